"""Pipelines that a file keeps from process to process, and what happens where it cannot be used."""

import contextlib
import os
import signal
import threading

import fault_walk
import pytest

import pagedrt
from helpers import cells, child, softmetal
from helpers.cells import Cell

ONE_PASS = Cell("float32", 64, 2, 2, 40, 16)
TWO_PASS = Cell("float32", 64, 2, 2, 1100, 16)
SMALL = Cell("float32", 8, 1, 1, 8, 4)
PIPELINES = 3  # reduce, which opening a device builds, one-pass and partial
COUNTERS = ("archive_hits", "archive_added", "archive_refused", "archive_unsaved")


@pytest.fixture(params=["cpu", "simulator"])
def family(request):
    return request.param


@pytest.fixture
def file(tmp_path):
    return tmp_path / "pipelines"


def run(path, family="cpu"):
    """A device's archive counters once it has run both paths and is closed, and how many pipelines were compiled."""
    before = softmetal.pipelines_compiled()
    with pagedrt.Device(family, pipeline_archive=path) as device:
        for cell in (ONE_PASS, TWO_PASS):
            cells.check(device, cell)
        assert device.stats["pipelines_built"] == PIPELINES
    return tuple(device.stats[name] for name in COUNTERS), softmetal.pipelines_compiled() - before


FRESH = ((0, PIPELINES, 0, 0), PIPELINES)
FOUND = ((PIPELINES, 0, 0, 0), 0)
REFUSED_FILE = ((0, PIPELINES, 1, 0), PIPELINES)


def alone(file):
    """Nothing lies beside the file."""
    return os.listdir(file.parent) == [file.name]


def test_none_without_the_argument():
    with pagedrt.Device("cpu") as device:
        assert device.pipeline_archive is None
        cells.check(device, ONE_PASS)
    assert [device.stats[name] for name in COUNTERS] == [0, 0, 0, 0]


@pytest.mark.parametrize("kind", [str, lambda path: path], ids=["str", "path"])
def test_what_one_device_compiles_the_next_finds(family, file, kind):
    assert run(kind(file), family) == FRESH
    assert alone(file)
    kept = file.read_bytes()
    assert run(kind(file), family) == FOUND
    assert file.read_bytes() == kept


def test_the_device_tells_its_file(file):
    with pagedrt.Device("cpu", pipeline_archive=file) as device:
        assert device.pipeline_archive == str(file)


def test_what_the_file_lacks_is_added(file):
    pagedrt.Device("cpu", pipeline_archive=file).close()
    assert run(file) == ((1, PIPELINES - 1, 0, 0), PIPELINES - 1)
    assert run(file) == FOUND


def test_nothing_is_written_before_the_end(file):
    device = pagedrt.Device("cpu", pipeline_archive=file)
    cells.check(device, ONE_PASS)
    assert not file.exists()
    device.close()
    assert file.exists()


def test_nothing_is_written_where_nothing_was_added(file):
    run(file)
    with pagedrt.Device("cpu", pipeline_archive=file):
        file.unlink()
    assert not file.exists()


def test_a_device_that_is_only_dropped_writes_too(file):
    device = pagedrt.Device("cpu", pipeline_archive=file)
    del device
    assert run(file)[0][0] == 1


def test_the_folder_of_the_opening_counts(tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    with pagedrt.Device("cpu", pipeline_archive="pipelines"):
        monkeypatch.chdir(tmp_path / "other")
    assert sorted(os.listdir(tmp_path)) == ["other", "pipelines"]
    assert os.listdir(tmp_path / "other") == []


def test_other_processes_find_them(file):
    program = f"""
        import pagedrt
        with pagedrt.Device("cpu", pipeline_archive={str(file)!r}) as device:
            pass
        print(device.stats["archive_hits"], device.stats["archive_added"])
    """
    assert child.run(program) == "0 1\n"
    assert child.run(program) == "1 0\n"


# --- what cannot be used ---


def truncated(contents):
    return contents[: len(contents) // 2]


def flipped(contents):
    return contents[:80] + bytes([contents[80] ^ 1]) + contents[81:]


@pytest.mark.parametrize(
    "damage", [lambda _: b"", truncated, flipped, lambda contents: contents + b"x", lambda _: b"\0" * 4096]
)
def test_a_damaged_file_is_replaced(family, file, damage):
    run(file, family)
    file.write_bytes(damage(file.read_bytes()))
    assert run(file, family) == REFUSED_FILE
    assert alone(file)
    assert run(file, family) == FOUND


def test_a_file_of_another_device_is_replaced(file):
    run(file, "simulator")
    assert run(file, "cpu") == REFUSED_FILE
    assert run(file, "cpu") == FOUND


def test_a_name_as_long_as_names_may_be(file):
    """What is written beside the file is called a little more than it is."""
    place = file.parent / ("x" * 240)
    assert run(place)[0] == (0, PIPELINES, 0, 0)
    assert run(file.parent / ("x" * 250)) == ((0, PIPELINES, 0, 1), PIPELINES)
    assert os.listdir(file.parent) == [place.name]


def test_a_device_that_refuses_archives(family, file):
    with softmetal.archives_refused():
        assert run(file, family) == ((0, 0, 1, 0), PIPELINES)  # an empty one
    assert not file.exists()
    run(file, family)
    kept = file.read_bytes()
    with softmetal.archives_refused():
        assert run(file, family) == ((0, 0, 2, 0), PIPELINES)  # the file's, then an empty one
    assert file.read_bytes() == kept


def metal_calls(path):
    """How many Metal calls a device's life makes."""
    with softmetal.failing(0):
        pagedrt.Device("cpu", pipeline_archive=path).close()
        return softmetal.calls_made()


def test_a_paravirtual_device_never_touches_an_archive(file):
    """Metal in a virtual machine ends the process that loads one."""
    run(file)
    kept = file.read_bytes()
    with softmetal.device_name("Apple Paravirtual device"):
        assert metal_calls(file) == metal_calls(None) == metal_calls(file.parent / "missing")
        assert run(file) == ((0, 0, 1, 0), PIPELINES)
    assert file.read_bytes() == kept
    assert alone(file)
    with softmetal.device_name("Apple M2"):
        assert metal_calls(file) == metal_calls(None) + 1  # the file is loaded; what it holds takes a call in any case


# --- what cannot be written ---


def test_a_folder_that_is_not_there(tmp_path):
    assert run(tmp_path / "missing" / "pipelines") == ((0, PIPELINES, 0, 1), PIPELINES)
    assert os.listdir(tmp_path) == []


def test_a_place_where_nothing_can_be_written():
    assert run("/proc/pagedrt-pipelines") == ((0, PIPELINES, 0, 1), PIPELINES)


def test_a_write_that_metal_fails(file):
    device = pagedrt.Device("cpu", pipeline_archive=file)
    with softmetal.failing(1):
        device.close()
        assert softmetal.calls_made() == 1
    assert (device.stats["archive_added"], device.stats["archive_unsaved"]) == (1, 1)
    assert os.listdir(file.parent) == []


def test_a_folder_that_takes_the_files_place(file):
    with pagedrt.Device("cpu", pipeline_archive=file) as device:
        file.mkdir()
    assert device.stats["archive_unsaved"] == 1
    assert alone(file)


# --- bad arguments ---

BAD = [(b"pipelines", "bytes"), ("", "''"), (3, "3"), (True, "True"), ("a\0b", "x00"), ("\udcff", "UTF-8")]


@pytest.mark.parametrize("family", [*pagedrt.device.FAMILIES, None])
@pytest.mark.parametrize(("path", "said"), BAD, ids=[repr(path) for path, _ in BAD])
def test_bad_paths(family, path, said):
    with pytest.raises(pagedrt.InvalidInputError, match="pipeline_archive: got ") as caught:
        pagedrt.Device(family, pipeline_archive=path)
    assert said in str(caught.value) or repr(path) in str(caught.value)


@pytest.mark.parametrize("family", ["cpu", "simulator", "metal", None])
def test_what_is_no_file(tmp_path, family):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", f"{tmp_path}/new/", "/dev/null"):
        with pytest.raises(pagedrt.InvalidInputError, match=r"pipeline_archive: .*expected the path of a file"):
            pagedrt.Device(family, pipeline_archive=path)
    with pytest.raises(pagedrt.InvalidInputError, match=r"pipeline_archive: .* shorter path"):
        pagedrt.Device(family, pipeline_archive="x" * 5000)


# --- failures, threads, processes ---


def test_each_call_fails_once(family, file):
    """Of a device's life with a file that holds some of what it needs, and without a file."""
    pagedrt.Device(family, pipeline_archive=file).close()
    some = file.read_bytes()
    for contents in (None, some):

        @contextlib.contextmanager
        def job(contents=contents):
            file.unlink(missing_ok=True)
            if contents is not None:
                file.write_bytes(contents)

            def attempt():
                with pagedrt.Device(family, pipeline_archive=file) as device:
                    cells.check(device, SMALL)

            yield attempt, lambda failed: None
            assert os.listdir(file.parent) == [file.name]
            with pagedrt.Device(family, pipeline_archive=file) as device:
                cells.check(device, SMALL)
            assert device.stats["archive_hits"] == 2  # what the second attempt built, whatever the first one left

        walk = fault_walk.walk(job)
        without = fault_walk.walk(lambda: plain(family))
        assert walk.calls > without.calls
        # What the archive's calls lack fails nothing, and a pipeline that it holds is compiled where it is not found.
        assert len(walk.messages) == len(without.messages) - (contents is not None)


@contextlib.contextmanager
def plain(family):
    def attempt():
        with pagedrt.Device(family) as device:
            cells.check(device, SMALL)

    yield attempt, lambda failed: None


def test_nothing_leaks(file):
    run(file)
    before = softmetal.live_objects()
    for _ in range(3):
        run(file)
        file.write_bytes(b"damaged")
        run(file)
    assert softmetal.live_objects(before) == before


def test_threads_that_build_at_once(file):
    shapes = [Cell("float32", dim, 2, 2, 1100, 16) for dim in (32, 64, 96, 128)]
    with pagedrt.Device("cpu", pipeline_archive=file) as device:
        threads = [threading.Thread(target=cells.run, args=(device, shape, cells.make(shape))) for shape in shapes * 2]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        built = device.stats["pipelines_built"]
    assert built == 1 + len(shapes) == device.stats["archive_added"]
    with pagedrt.Device("cpu", pipeline_archive=file) as device:
        for shape in shapes:
            cells.check(device, shape)
    assert (device.stats["archive_hits"], device.stats["archive_added"]) == (built, 0)


def test_writers_of_one_file_leave_a_whole_one(file):
    """Devices of several processes and threads that close at once: each write is whole, and the last one stays."""
    program = f"""
        import threading, pagedrt
        from helpers import cells
        from helpers.cells import Cell

        def work(dim):
            for _ in range(20):
                with pagedrt.Device("cpu", threads=1, pipeline_archive={str(file)!r}) as device:
                    cells.check(device, Cell("float32", dim, 2, 2, 40, 16))
                assert device.stats["archive_refused"] == device.stats["archive_unsaved"] == 0, device.stats

        threads = [threading.Thread(target=work, args=(dim,)) for dim in (32, 64)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print("well")
    """
    processes = [child.start(program) for _ in range(3)]
    assert [child.finish(process) for process in processes] == ["well\n"] * 3
    assert alone(file)
    assert run(file)[0][2] == 0


def test_a_forked_child_writes_nothing(file):
    device = pagedrt.Device("cpu", pipeline_archive=file)
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)
        with contextlib.suppress(pagedrt.DeviceError):
            device.close()
        del device
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert not file.exists()
    device.close()
    assert file.exists()
