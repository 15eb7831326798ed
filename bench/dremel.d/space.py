"""What may be tried. The program's own space is the only source of it: this asks
`lissom space`."""

import json
import subprocess

from failure import Failure


class Space:
    """A space with its constants, and a process that answers questions about it."""

    def __init__(self, program, name, constants, form):
        words = [str(program), "space", "--space", name, "--format", form]
        for constant, value in constants.items():
            words += ["--constant", f"{constant}={value:g}" if isinstance(value, float)
                      else f"{constant}={value}"]
        described = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if described.returncode != 0:
            raise Failure(f"lissom space failed: {described.stderr.strip()}")
        self.description = json.loads(described.stdout)
        self.process = subprocess.Popen([*words, "--answer"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True,
                                        # It ends with its input, not by Ctrl-C before the rest.
                                        start_new_session=True)

    @property
    def parameters(self):
        return self.description["parameters"]

    @property
    def default(self):
        return self.description["default"]

    def ask(self, question):
        try:
            self.process.stdin.write(json.dumps(question) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise Failure("lissom space has ended: is the program being built anew?")
        answer = json.loads(line)
        if "error" in answer:
            raise Failure(f"lissom space refuses: {answer['error']}")
        return answer

    def allows(self, configuration):
        """Whether it satisfies all rules."""
        return not self.ask({"check": configuration})["checked"]["broken"]

    def sample(self, count, seed):
        """Configurations that satisfy all rules, drawn at random."""
        return self.ask({"sample": {"count": count, "seed": seed}})["sampled"]

    def file(self, configuration):
        """The text of the file that a trial is given."""
        return self.ask({"write": configuration})["written"]["text"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
