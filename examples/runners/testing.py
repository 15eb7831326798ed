"""What several tests need: a program that measures, and orders for hosts."""

GOOD = """echo '{"ready": true}'; echo words >&2
while :; do echo '{"throughput": 100}'; sleep 0.02; done"""


def order(kind, run, script="", *words):
    if kind != "start":
        return {"message": kind, "run": run}
    command = ["sh", "-c", script, "trial", "{options}", "{directory}", *words]
    return {"message": kind, "run": run, "label": "trial-1", "command": command, "options": "a=1\n"}
