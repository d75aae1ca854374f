"""Convolutional parts of graphs with the channels last: the operators that passes put there, and their code."""
