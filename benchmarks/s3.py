"""S3: ten people talking to each other. python -m benchmarks.s3"""

from benchmarks.sfu_comparison import run
from svc.tools.bench.scenario import Scenario

TITLE, SCENARIO, PPS = (
    "S3: 10 people, 50 packets/s of 100 bytes each",
    Scenario(10, 0, size=100, audio=True),
    50,
)

if __name__ == "__main__":
    run(TITLE, SCENARIO, PPS)
