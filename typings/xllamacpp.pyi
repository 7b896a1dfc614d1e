# What Onion uses of xllamacpp, which ships no types.

from collections.abc import Callable

from onion.spec.base import JsonObject

class CommonParamsModel:
    path: str

class CpuParams:
    n_threads: int

class CommonParams:
    api_keys: list[str]
    cache_ram_mib: int
    chat_template: str
    cors_origins: str
    cpuparams: CpuParams
    endpoint_metrics: bool
    endpoint_slots: bool
    hostnames: list[str]
    model: CommonParamsModel
    model_alias: set[str]
    n_batch: int
    n_ctx: int
    n_parallel: int
    port: int
    ui: bool
    verbosity: int

class Server:
    listening_address: str
    def __init__(self, params: CommonParams) -> None: ...
    def handle_metrics(self) -> str: ...
    def handle_chat_completions(self, prompt: JsonObject, callback: Callable[[JsonObject], bool]) -> None: ...

def json_schema_to_grammar(schema: JsonObject) -> str: ...
