// SPDX-License-Identifier: MIT
// Locks.java: main > outer > middle > inner, which takes a lock that somebody else waits for, so that code of the first compiler
// calls a stub for that, each time; and before it deeper calls, whose return addresses stay on the stack below.
public class Locks {
	static final Object lock = new Object();
	static volatile long sink;

	static void inner() {
		synchronized (lock) {
			sink++;
		}
	}

	static void middle() {
		inner();
		sink++;
	}

	static void below3(int n) {
		if (n > 0)
			below3(n - 1);
		sink++;
	}

	static void below2() {
		below3(3);
		sink++;
	}

	static void below1() {
		below2();
		sink++;
	}

	static void outer() {
		below1();
		middle();
		sink++;
	}

	public static void main(String[] args) throws Exception {
		Thread waits = new Thread(() -> {
			synchronized (lock) {
				try {
					lock.wait();
				} catch (InterruptedException e) {
				}
			}
		});

		waits.setDaemon(true);
		waits.start();
		while (waits.getState() != Thread.State.WAITING)
			Thread.sleep(1);
		for (long end = System.nanoTime() + Long.parseLong(args[0]) * 1000000; System.nanoTime() < end;)
			for (int i = 0; i < 1000; i++)
				outer();
	}
}
