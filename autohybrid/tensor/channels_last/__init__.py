"""Convolution and pooling on arrays (n, height, width, channels): one strategy a file, chosen by rule from shapes."""
