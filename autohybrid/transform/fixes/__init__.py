"""Fixes that need the syntax tree of the file: found for a finding when fixes are asked for, never by a plain `check`.

`complete` adds them to findings. Which builder serves which code is the table below; a builder gets a `Site` and gives
a `Fix` or None. Rules add the fixes that need nothing but their event by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from autohybrid.diagnostics.model import Diagnostic, Fix
from autohybrid.transform.fixes.arithmetic import (
    fix_chain,
    fix_extreme,
    fix_list_operand,
    fix_matrix_product,
    fix_multinomial,
    fix_numpy,
    fix_output_index,
)
from autohybrid.transform.fixes.blocks import (
    fix_constant_result,
    fix_keyword_input,
    fix_missing_argument,
    fix_missing_super,
    fix_none_result,
    fix_parameter_data,
    fix_parameter_operand,
    fix_parameter_shape,
    fix_random,
    fix_unregistered,
    fix_unused_child,
)
from autohybrid.transform.fixes.branches import fix_bool_call, fix_boolean_operator, fix_condition, fix_training_branch
from autohybrid.transform.fixes.helpers import inline_helper
from autohybrid.transform.fixes.items import fix_item_assignment, fix_operator_module, fix_out_argument
from autohybrid.transform.fixes.loops import (
    fix_captured,
    fix_early_exit,
    fix_rows,
    fix_unpacking,
    fix_while,
)
from autohybrid.transform.fixes.namespace import fix_array_operator, fix_plain_child, take_namespace
from autohybrid.transform.fixes.numbers import fix_host_value, fix_shape_number
from autohybrid.transform.fixes.operators import (
    fix_array_in_graph,
    fix_context,
    fix_dtype,
    fix_method,
    fix_missing_operator,
    fix_positional_context,
    fix_symbol_operator,
    fix_unknown_keyword,
    fix_unknown_operator,
)
from autohybrid.transform.fixes.shapes import fix_named_shape, fix_sizes, fix_whole_shape
from autohybrid.transform.fixes.site import ParsedFiles, Site, make_fix
from autohybrid.transform.fixes.statements import (
    keep_array_branch,
    read_attribute,
    remove_effect,
    remove_hook,
    remove_never_branch,
    remove_statement,
    remove_wait,
    unwrap_scope,
)
from autohybrid.transform.fixes.subscripts import fix_subscript

Builder = Callable[[Site], Fix | None]

_BUILDERS: Mapping[str, tuple[Builder, ...]] = {
    "AH101": (fix_parameter_shape, fix_whole_shape, fix_named_shape, fix_sizes, fix_shape_number, inline_helper),
    "AH102": (
        fix_dtype,
        remove_never_branch,
    ),
    "AH103": (fix_context,),
    "AH104": (fix_subscript,),
    "AH105": (fix_subscript,),
    "AH106": (fix_subscript,),
    "AH107": (fix_output_index,),
    "AH108": (fix_item_assignment,),
    "AH109": (fix_operator_module,),
    "AH111": (fix_out_argument,),
    "AH112": (fix_method,),
    "AH113": (fix_method,),
    "AH115": (remove_statement,),
    "AH201": (remove_wait, fix_host_value, inline_helper),
    "AH202": (fix_bool_call, fix_host_value),
    "AH204": (fix_numpy,),
    "AH205": (fix_context,),
    "AH206": (remove_effect,),
    "AH207": (fix_parameter_data,),
    "AH301": (remove_effect,),
    "AH302": (remove_statement,),
    "AH303": (
        remove_effect,
        remove_statement,
    ),
    "AH306": (remove_effect,),
    "AH307": (remove_effect,),
    "AH308": (remove_statement,),
    "AH309": (remove_hook,),
    "AH310": (remove_effect,),
    "AH401": (fix_early_exit, fix_condition),
    "AH402": (fix_while,),
    "AH403": (fix_boolean_operator, fix_condition, fix_chain),
    "AH404": (remove_statement,),
    "AH405": (fix_extreme,),
    "AH406": (fix_captured,),
    "AH501": (
        fix_rows,
        inline_helper,
    ),
    "AH502": (fix_sizes, fix_shape_number, inline_helper),
    "AH503": (fix_unpacking,),
    "AH505": (fix_random,),
    "AH507": (fix_training_branch,),
    "AH508": (unwrap_scope,),
    "AH511": (keep_array_branch,),
    "AH512": (remove_statement, read_attribute),
    "AH601": (fix_plain_child,),
    "AH602": (fix_unused_child,),
    "AH603": (fix_missing_argument,),
    "AH606": (fix_none_result,),
    "AH607": (fix_constant_result,),
    "AH609": (fix_keyword_input,),
    "AH611": (fix_unregistered,),
    "AH612": (fix_missing_super,),
    "AH701": (fix_missing_operator,),
    "AH702": (fix_unknown_operator,),
    "AH703": (fix_array_operator,),
    "AH704": (fix_array_in_graph,),
    "AH705": (fix_symbol_operator,),
    "AH706": (fix_parameter_operand,),
    "AH707": (fix_unknown_keyword,),
    "AH708": (fix_matrix_product,),
    "AH710": (fix_list_operand,),
    "AH713": (fix_positional_context,),
    "AH714": (fix_multinomial,),
    "AH716": (fix_out_argument,),
}


def complete(
    findings: Iterable[Diagnostic], get_text: Callable[[str], str], files: ParsedFiles | None = None
) -> list[Diagnostic]:
    """The findings with the fixes that need the tree. A fix made here takes the place of those of the rule.

    `files` keeps what was parsed and analysed for the next call.
    """
    kept = ParsedFiles() if files is None else files
    return [_completed(finding, kept, get_text) for finding in findings]


def _completed(finding: Diagnostic, files: ParsedFiles, get_text: Callable[[str], str]) -> Diagnostic:
    builders = _BUILDERS.get(finding.code)
    path = finding.span.path
    if builders is None or finding.cell is not None:
        return finding
    parsed = files.get(path, get_text(path))
    fix = None if parsed is None else find_fix(Site(parsed, finding), builders)
    return finding if fix is None else replace(finding, fixes=(fix,))


def find_fix(site: Site, builders: Iterable[Builder]) -> Fix | None:
    """The first fix that a builder gives; where the function has no namespace, one that also passes it `F`."""
    for build in builders:
        fix = build(site)
        if fix is not None:
            return fix
    node = next(iter(site.nodes), None)
    if node is None or site.space(node):
        return None
    edits = take_namespace(site, node, "F")
    if edits is None:
        return None
    for build in builders:
        fix = build(site.assuming("F"))
        if fix is not None:
            return make_fix("pass the namespace", [*edits, *fix.edits])
    return None
