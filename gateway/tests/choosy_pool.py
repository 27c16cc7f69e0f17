"""A worker pool named by BENCH_WORKER_POOL that is at fault: it takes every seat but one model's."""

from concurrent.futures import Future

from gateway.reply import SeatAnswer
from gateway.workers.job import SeatJob
from gateway.workers.seat import OnText
from gateway.workers.threads import ThreadWorkerPool


class ChoosyPool(ThreadWorkerPool):
    def submit(self, job: SeatJob, on_text: OnText | None = None) -> Future[SeatAnswer]:
        if job.alias == "unlucky":
            raise RuntimeError("this pool does not like it")
        return super().submit(job, on_text)
