"""The version of autohybrid, and nothing else (read by the build and by `autohybrid --version`)."""

__version__ = "0.1.0"
