"""S1: one camera to ten receivers. python -m benchmarks.s1"""

from benchmarks.sfu_comparison import run
from svc.tools.bench.scenario import Scenario

TITLE, SCENARIO, PPS = "S1: 1 x 10, 300 packets/s of 1100 bytes", Scenario(1, 10), 300

if __name__ == "__main__":
    run(TITLE, SCENARIO, PPS)
