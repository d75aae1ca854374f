from typing import Any
def lowered_method(block: Any, name: str, owner: type) -> Any:
    return getattr(block, name)
