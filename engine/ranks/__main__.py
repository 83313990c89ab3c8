"""``python -m gradscribe.engine.ranks JOB.json``, started by torch.distributed.run."""

import signal
import sys

if __name__ == "__main__":
    if hasattr(signal, "pthread_sigmask"):
        # Before any thread is there: a thread of its own waits for it, see `ending`.
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM,))
    from gradscribe.engine.ranks import worker

    worker.main(sys.argv[1])
