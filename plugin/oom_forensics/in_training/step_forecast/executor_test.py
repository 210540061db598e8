"""The abstract run: references, forwarding, copies of variables, lists, loops, on real graphs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import tensorflow as tf

from oom_forensics.in_training.collector_library import CollectorLibrary
from oom_forensics.in_training.evidence.trace_file import ModuleName
from oom_forensics.in_training.evidence.written_run import Deadline
from oom_forensics.in_training.step_forecast import (
    conv_scratch,
    first_values,
    prepared_graph,
    step_function,
)
from oom_forensics.in_training.step_forecast.compiled_modules import module_of
from oom_forensics.in_training.step_forecast.executor import Executor, Library, OutOfTimeError
from oom_forensics.in_training.step_forecast.forecaster import forecast_step
from oom_forensics.in_training.step_forecast.orders import ORDERS, Order

MIB = 1 << 20
FIFO = ORDERS[0]


def run(function: Callable[..., Any], *specs: Any, order: Order = FIFO) -> Executor:
    concrete = tf.function(function).get_concrete_function(*specs)
    graph = prepared_graph.prepare(step_function.of_concrete(concrete))
    executor = Executor(Library(graph), order)
    executor.run()
    return executor


def mib_of(executor: Executor) -> float:
    return executor.memory.peak_bytes / MIB


MATRIX = tf.TensorSpec([512, 512])  # 1 MiB


def test_an_output_takes_the_buffer_of_an_input_that_nobody_else_reads() -> None:
    assert mib_of(run(lambda x: tf.nn.relu(tf.linalg.matmul(x, x)) + 1.0, MATRIX)) == 1


def test_the_memory_of_an_argument_is_not_needed_to_forecast() -> None:
    larger_than_any_machine = tf.TensorSpec([1 << 22, 1 << 22])
    executor = run(tf.reduce_sum, larger_than_any_machine)
    assert executor.memory.in_use_bytes == 0


def test_a_tensor_is_kept_while_someone_will_read_it() -> None:
    def keep(x: Any) -> Any:
        product = tf.linalg.matmul(x, x)
        return tf.linalg.matmul(tf.linalg.matmul(product, x), product)

    assert mib_of(run(keep, MATRIX)) == 3


def test_what_is_made_is_given_back_or_is_a_result() -> None:
    executor = run(lambda x: tf.linalg.matmul(x, x), MATRIX)
    assert executor.memory.in_use_bytes == 0
    assert len(executor.memory.events) == 2 * executor.memory.allocations


def test_a_variable_is_updated_in_place_unless_it_is_being_read() -> None:
    variable = tf.Variable(tf.zeros([512, 512]))

    def in_place() -> None:
        variable.assign_add(tf.random.uniform([512, 512]))

    def while_read() -> Any:
        before = variable.read_value()
        variable.assign_add(tf.random.uniform([512, 512]))
        return tf.linalg.matmul(before, before)

    assert mib_of(run(in_place)) == pytest.approx(1, abs=0.01)
    assert mib_of(run(while_read)) >= 2


def test_variables_that_share_their_first_value_copy_it_when_they_are_written() -> None:
    slots: list[tf.Variable] = []

    @tf.function  # type: ignore[untyped-decorator]
    def make() -> None:
        if not slots:
            slots.extend(tf.Variable(tf.zeros([512, 512])) for _ in range(3))

    make()

    def step() -> None:
        for slot in slots:
            slot.assign_add(tf.random.uniform([512, 512]))

    alone = step_function.of_concrete(tf.function(step).get_concrete_function())
    first_values.note([(slot, None) for slot in slots])
    library = CollectorLibrary.loaded()
    assert library is not None
    one_buffer = first_values.in_one_buffer(library)
    copies = []
    for groups in ((), one_buffer):
        graph = prepared_graph.prepare(replace(alone, one_buffer=groups))
        executor = Executor(Library(graph), FIFO)
        executor.run()
        copies.append(executor.memory.in_use_bytes / MIB)
    # The last one to be written need not copy.
    assert copies == [0, 2]
    step()
    assert not first_values.in_one_buffer(library)


def test_loops_go_round_and_keep_what_the_backward_pass_needs() -> None:
    def gradient_of_loop(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            state = x
            for _ in tf.range(20):
                state = tf.tanh(tf.linalg.matmul(state, x))
        return tape.gradient(state, x)

    executor = run(gradient_of_loop, MATRIX)
    assert not executor.assumed
    assert 20 <= mib_of(executor) <= 50


def test_a_loop_computes_ahead_what_waits_for_its_counter_alone() -> None:
    def loop(x: Any) -> Any:
        state = x
        for i in tf.range(20):
            state = tf.linalg.matmul(state, tf.linalg.matmul(x, x * tf.cast(i, tf.float32)))
        return state

    in_turn, ahead = (
        run(loop, MATRIX, order=replace(FIFO, loops_ahead=loops_ahead))
        for loops_ahead in (False, True)
    )
    assert ahead.ops_run == in_turn.ops_run
    # As many iterations begin as tf.range's loop has by default.
    assert mib_of(in_turn) + 8 <= mib_of(ahead) <= mib_of(in_turn) + 10


def test_a_loop_adds_up_behind_what_no_later_iteration_waits_for() -> None:
    def loop(x: Any) -> Any:
        state, total = x, tf.zeros([512, 512])
        for _ in tf.range(20):
            state = tf.linalg.matmul(state, x)
            total += tf.linalg.matmul(state, state)
        return state, total

    in_turn, behind = (
        run(loop, MATRIX, order=replace(FIFO, loops_behind=loops_behind))
        for loops_behind in (False, True)
    )
    assert behind.ops_run == in_turn.ops_run
    assert behind.memory.in_use_bytes == in_turn.memory.in_use_bytes
    # The products of as many iterations as tf.range's loop has at a time by default.
    assert mib_of(in_turn) + 8 <= mib_of(behind) <= mib_of(in_turn) + 10


def test_each_row_of_a_tensor_that_becomes_a_list_is_copied() -> None:
    def rows(x: Any) -> Any:
        made = tf.TensorArray(tf.float32, 4).unstack(tf.reshape(x, [4, 128, 512]) * 2.0)
        return made.read(0)

    assert mib_of(run(rows, MATRIX)) == 2


def test_an_optional_holds_the_element_of_an_iterator() -> None:
    """As tf.distribute asks for the elements of its replicas."""

    def step(x: Any) -> Any:
        optional = tf.experimental.Optional.from_value(tf.linalg.matmul(x, x))
        if optional.has_value():
            return tf.linalg.matmul(optional.get_value(), x)
        return x

    executor = run(step, MATRIX)
    assert not executor.assumed
    assert not executor.memory.unknown
    assert mib_of(executor) == 2


def test_each_gpu_is_asked_for_what_its_own_ops_need() -> None:
    def step(x: Any) -> Any:
        with tf.device("GPU:0"):
            one = tf.linalg.matmul(x, x)
        with tf.device("GPU:1"):
            two = tf.linalg.matmul(tf.linalg.matmul(one, x), x)
        return one, two

    concrete = tf.function(step).get_concrete_function(MATRIX)
    graph = prepared_graph.prepare(step_function.of_concrete(concrete))
    executors = [Executor(Library(graph), FIFO, allocator=f"GPU_{i}_bfc#0") for i in range(2)]
    for each in executors:
        assert each.run().sites
    assert [mib_of(each) for each in executors] == [1, 2]


def test_each_gpu_is_asked_for_the_element_of_its_own_replica() -> None:
    data = iter(tf.data.Dataset.from_tensors(tf.zeros([512, 512])).repeat())

    def step(iterator: Any) -> Any:
        batches = [next(iterator), tf.concat([next(iterator), next(iterator)], 0)]
        sums = []
        for gpu, batch in enumerate(batches):
            with tf.device(f"GPU:{gpu}"):
                sums.append(tf.reduce_sum(batch))
        return sums

    concrete = tf.function(step).get_concrete_function(data)
    graph = prepared_graph.prepare(step_function.of_concrete(concrete))
    executors = [Executor(Library(graph), FIFO, allocator=f"gpu_async_{i}#0") for i in range(2)]
    for each in executors:
        each.run()
    # Two batches and what they are put together in.
    assert [mib_of(each) for each in executors] == pytest.approx([1, 4], rel=0.01)


def test_an_open_batch_is_what_the_function_is_called_with() -> None:
    def step(x: Any) -> Any:
        return tf.reduce_sum(tf.reshape(x, [tf.shape(x)[0], -1]) * 2.0)

    concrete = tf.function(step).get_concrete_function(tf.TensorSpec([None, 64, 64]))
    called = step_function.of_call(
        concrete.name.decode(), [tf.TensorSpec([64, 64, 64]), *concrete.captured_inputs]
    )
    executor = Executor(Library(prepared_graph.prepare(called)), FIFO)
    executor.run()
    assert not executor.memory.unknown
    assert executor.memory.peak_bytes == pytest.approx(MIB, rel=0.01)


def test_what_a_condition_chooses_is_at_most_all() -> None:
    executor = run(lambda x: tf.boolean_mask(x, x > 0.0), MATRIX)
    assert not executor.memory.unknown
    assert any("condition" in what for _, what in executor.assumed)
    # Where they lie in the flat matrix (2 MiB), and what they choose.
    assert mib_of(executor) >= 3


def test_a_size_that_only_data_tells_is_named_and_not_guessed() -> None:
    executor = run(lambda x: tf.unique(tf.reshape(x, [-1])).y * 2.0, MATRIX)
    assert any(kind == "Unique" for _, kind in executor.memory.unknown)


def test_the_element_of_a_pipeline_is_asked_for_and_the_next_one_may_be() -> None:
    data = iter(tf.data.Dataset.from_tensors(tf.zeros([512, 512])))

    def step(iterator: Any) -> Any:
        return tf.reduce_sum(next(iterator))

    def asked_mib(order: Order) -> float:
        return mib_of(run(step, data, order=order))

    assert asked_mib(FIFO) == pytest.approx(1, abs=0.01)
    assert asked_mib(replace(FIFO, fetches_next=True)) == pytest.approx(2, abs=0.01)


def test_a_product_of_bfloat16_is_computed_in_float32() -> None:
    matrix = tf.TensorSpec([512, 512], tf.bfloat16)
    with_own_kernels = conv_scratch.has_own_kernels()
    peak = mib_of(run(lambda x: tf.linalg.matmul(x, x), matrix))
    assert peak == (3.5 if with_own_kernels else 0.5)


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order.name)
def test_every_order_gives_back_what_it_took(order: Order) -> None:
    def step(x: Any) -> Any:
        return tf.add_n([tf.linalg.matmul(x, x + float(i)) for i in range(8)])

    executor = run(step, MATRIX, order=order)
    assert executor.memory.in_use_bytes == 0
    assert 2 <= mib_of(executor) <= 17


def test_functions_that_are_called_as_ops_of_their_name_are_run() -> None:
    def loss(logits: Any) -> Any:
        # Its loops are made of such.
        labels = tf.ones([4, 5], tf.int32)
        lengths = tf.fill([4], 5), tf.fill([4], 256)
        return tf.nn.ctc_loss(labels, logits, *lengths, logits_time_major=False, blank_index=0)

    executor = run(loss, tf.TensorSpec([4, 256, 1024]))
    # The logarithm of the softmax of the logits, and that with the time in front.
    assert mib_of(executor) >= 2 * 4


def test_why_there_is_no_forecast_is_said() -> None:
    step = step_function.of_concrete(tf.function(tf.nn.relu).get_concrete_function(MATRIX))
    definitions = {
        name: definition.replace(b"Relu", b"Relo") for name, definition in step.definitions.items()
    }
    changed = replace(step, definitions=definitions)
    forecast = forecast_step(changed, origin="oom", deadline=Deadline(5.0))
    assert forecast.reason.startswith("TensorFlow does not take its graph apart (")


def test_it_is_given_up_when_the_time_is_over() -> None:
    def long_loop(x: Any) -> Any:
        for _ in tf.range(100_000):
            x = tf.tanh(x)
        return x

    concrete = tf.function(long_loop).get_concrete_function(MATRIX)
    library = Library(prepared_graph.prepare(step_function.of_concrete(concrete)))
    with pytest.raises(OutOfTimeError):
        Executor(library, FIFO, Deadline(0.0)).run()


def test_a_function_that_xla_compiles_is_a_run_of_its_module() -> None:
    compiled = tf.function(lambda x: tf.nn.relu(tf.linalg.matmul(x, x)), jit_compile=True)
    concrete = tf.function(lambda x: compiled(tf.linalg.matmul(x, x))).get_concrete_function(MATRIX)
    step = step_function.of_concrete(concrete)
    (name,) = step.compiled_functions
    module = ModuleName(f"a{name.removeprefix('_')}__.7", 3)
    requests = Executor(Library(prepared_graph.prepare(step), {name: module}), FIFO).run()
    assert [site.module for site in requests.sites] == [None, module]
    assert requests.events == [0, 1, -2, -1], "the module's memory goes when it has run"
    assert module_of(name, [ModuleName("a_inference_other_3__.1", 0), module]) == module
    assert module_of("__inference_nobody_4", [module]) is None
