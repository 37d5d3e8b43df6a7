"""S2: one camera to fifty receivers. python -m benchmarks.s2"""

from benchmarks.sfu_comparison import run
from svc.tools.bench.scenario import Scenario

TITLE, SCENARIO, PPS = "S2: 1 x 50, 300 packets/s of 1100 bytes", Scenario(1, 50), 300

if __name__ == "__main__":
    run(TITLE, SCENARIO, PPS)
