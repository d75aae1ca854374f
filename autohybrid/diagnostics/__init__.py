"""Findings as data: the model, the rules that make them, suppression and baseline, and the renderers."""
