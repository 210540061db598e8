"""The user's source lines of what was recorded.

The collector takes the stack of an eager operation as it allocates. An operation of a
graph runs in a thread of TensorFlow's, long after Python made it; all that is recorded
of it is its name. When a run has been written, the recorded names (and no others) are
looked up here in the graphs that TensorFlow traced in this process:

    code_origin     the user's code, or a library's
    frames          a stack as files, lines and functions
    traced_graphs   the function graphs of this process, and those just removed
    keras_objects   where each Keras layer, optimizer, loss and metric was made
    data_pipelines  where each dataset was made, by the size of its elements
    keras2_objects  … and of Keras 2
    op_resolver     a recorded name → its frames and its Keras object
    line_texts      the text of a line, also of a notebook's
    source_plane    the plane that a run gets (`/oom_forensics:source`)
    evidence        the provider: all of it together, for one written run
"""
