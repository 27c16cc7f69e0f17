"""What a seat costs when Celery workers ask it: panels a second, and CPU of web process and worker, by kind of pool."""
