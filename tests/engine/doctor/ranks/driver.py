"""One rank that records all programs one after the other: a start costs more than all of them."""

import os
import sys
from pathlib import Path

import msgspec
from torch import distributed as dist

from gradscribe.engine.protocol.ranks import job
from gradscribe.engine.protocol.tape import RankInfo
from gradscribe.engine.protocol.tape_file import RunProgram
from gradscribe.engine.run import run
from tests.engine.doctor.ranks import programs

if __name__ == "__main__":
    dist.init_process_group("gloo")
    rank = int(os.environ["RANK"])
    for number, source in enumerate(programs.all_programs()):
        tape = run.record(source, filename=f"program{number}.py")
        tape = msgspec.structs.replace(tape, rank=RankInfo(rank, 2))
        folder = str(Path(sys.argv[1], str(number)))
        job.write_tape(job.tape_path(folder, rank), RunProgram(source), tape)
        dist.barrier()
    dist.destroy_process_group()
