"""Which op is next: of one queue, and of the queues of TensorFlow's threads."""

from __future__ import annotations

from oom_forensics.in_training.step_forecast.orders import ORDERS, Order, ThreadQueues, queue_of

TWO_THREADS = Order("threads", workers=2, as_threads=True)


def test_a_queue_is_served_from_its_begin_or_its_end() -> None:
    for last_first, expected in ((False, [1, 2, 3]), (True, [3, 2, 1])):
        queue = queue_of(Order("one", last_first=last_first), lambda _: True)
        queue.made_ready(None, [1, 2, 3])
        assert [queue.next_of(0) for _ in range(3)] == expected
        assert queue.next_of(0) is None


def test_a_thread_goes_on_with_one_op_and_offers_the_others() -> None:
    queues = ThreadQueues(TWO_THREADS, lambda _: True)
    queues.made_ready(0, [1, 2, 3])
    assert queues.next_of(0) == 3
    # Another takes what was offered first, the thread itself what it offered last.
    assert queues.next_of(1) == 1
    assert queues.next_of(0) == 2


def test_cheap_ops_are_not_handed_over() -> None:
    queues = ThreadQueues(TWO_THREADS, lambda node: node >= 10)
    queues.made_ready(0, [1, 10, 2])
    assert queues.next_of(1) == 10
    assert queues.next_of(1) is None
    assert [queues.next_of(0), queues.next_of(0)] == [1, 2]


def test_the_number_of_threads_is_that_of_this_process() -> None:
    assert all(order.of_this_process().workers >= 1 for order in ORDERS)
