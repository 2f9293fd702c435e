"""berth_pickled.py: a pool as an executor for Dask and joblib, whose calls are functions and objects that no JSON can say: they travel as pickles.

    with PickledPool(memory="256M") as pool:
        dask.compute(work, scheduler=pool)

    with PickledPool(memory="256M") as pool, joblib_berth(pool):
        joblib.Parallel(n_jobs=20)(joblib.delayed(f)(x) for x in range(100))

READING A PICKLE RUNS CODE THAT IS IN IT, and results are pickles: use it only in a pool whose machines you would let run programs as yourself. The machines
need cloudpickle (or joblib, which brings one) and whatever the calls import, in the version that you use here.
"""
import base64
import concurrent.futures
import contextlib

import berth

try:
    import cloudpickle
except ImportError:
    from joblib.externals import cloudpickle


def call(text):
    """Runs on a machine of the pool: its source travels."""
    import base64
    try:
        import cloudpickle
    except ImportError:
        from joblib.externals import cloudpickle
    function, args, kwargs = cloudpickle.loads(base64.b64decode(text))
    return base64.b64encode(cloudpickle.dumps(function(*args, **kwargs))).decode()


class PickledPool(concurrent.futures.Executor):
    """The options are those of berth.Pool; `at_once` is how many calls Dask has under way."""

    def __init__(self, at_once=100, **options):
        self._pool = berth.Pool(**options)
        self._max_workers = at_once

    def submit(self, function, /, *args, **kwargs):
        job = self._pool.submit(call, base64.b64encode(cloudpickle.dumps((function, args, kwargs))).decode())
        future = concurrent.futures.Future()
        future.set_running_or_notify_cancel()

        def over(done):
            try:
                future.set_result(cloudpickle.loads(base64.b64decode(done.result())))
            except BaseException as error:
                future.set_exception(error)

        job.add_done_callback(over)
        return future

    def shutdown(self, wait=True, *, cancel_futures=False):
        self._pool.shutdown(wait, cancel_futures=cancel_futures)


@contextlib.contextmanager
def joblib_berth(pool):
    """In this block joblib's calls are jobs of the pool."""
    import joblib
    from joblib._parallel_backends import ParallelBackendBase

    class Pending:
        def __init__(self, future):
            self.get = future.result

    class Backend(ParallelBackendBase):
        supports_timeout = True

        def effective_n_jobs(self, n_jobs):
            return pool._max_workers if n_jobs is None or n_jobs < 0 else n_jobs

        def apply_async(self, function, callback=None):
            future = pool.submit(function)
            if callback:
                future.add_done_callback(lambda done: callback(done.result()) if not done.exception() else None)
            return Pending(future)

    joblib.register_parallel_backend("berth", Backend)
    with joblib.parallel_backend("berth"):
        yield
