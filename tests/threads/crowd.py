"""Several threads that start at one moment."""

import threading

THREADS = 8
TIMEOUT = 60  # seconds for all of them


def run(work, count=THREADS):
    """work(0), ..., work(count - 1) at once; the first exception of any, and a hang, are raised here."""
    barrier = threading.Barrier(count)
    results, errors = [None] * count, []

    def body(number):
        try:
            barrier.wait()
            results[number] = work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=body, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT)
        assert not thread.is_alive(), "a thread hangs"
    if errors:
        raise errors[0]
    return results
