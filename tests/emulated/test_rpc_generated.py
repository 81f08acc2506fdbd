"""The generated code of the gRPC interface is that of its .proto file."""

from hashlib import sha256
from pathlib import Path

CRATE = Path(__file__).parents[2] / "crates" / "sledsim-rpc"


def test_the_generated_code_is_of_this_proto_file() -> None:
    proto = (CRATE / "proto" / "sledsim.proto").read_bytes()
    code = (CRATE / "src" / "v1.rs").read_text(encoding="utf-8")
    _, of_proto, of_code, generated = code.split("\n", 3)
    hint = "crates/sledsim-rpc: run `make proto`"
    assert of_proto == f"// sha256 of sledsim.proto: {sha256(proto).hexdigest()}", hint
    own = sha256(generated.encode()).hexdigest()
    assert of_code == f"// sha256 of the lines below: {own}", hint
