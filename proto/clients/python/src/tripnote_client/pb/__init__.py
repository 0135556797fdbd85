"""The messages of `proto/tripnote/v1`, written by `regenerate`."""
