"""What has to be done once a day: the jobs, when each is due, who may run it, and the thread that does within `serve`.

`running.run_job` is what the thread, the command and any other scheduler call.
"""
