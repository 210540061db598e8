"""Logdirs that are URLs: `gs://`, `s3://`, `hdfs://` and whatever else fsspec knows.

    addresses     what is a URL
    listing       which traces lie below one
    local_copies  traces copied to this machine, where the converter reads them
    sending       a run that was written here, copied to where it belongs

Nothing here is imported where all paths are local. fsspec comes with
`pip install 'oom-forensics[remote]'`.
"""
