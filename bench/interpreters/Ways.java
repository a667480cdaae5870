// SPDX-License-Identifier: MIT
// Ways.java SECONDS [VIRTUAL]: functions that call each other in many ways, by names that tell the chain (judge.py): f<K> calls
// a w<K>_..., which leads to f<K+1>, by way of the class library. It works so many seconds of time, in platform threads and in
// as many VIRTUAL ones, which yield at the end of a chain, so that their frames wait on the heap.
import java.lang.invoke.*;
import java.lang.reflect.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.function.*;
import java.util.regex.*;
import java.util.stream.*;

public class Ways {
	static volatile long sink;
	static volatile boolean ended;

	static long spin(long n) {
		long s = n;
		for (int i = 0; i < 100 + (n & 127); i++)
			s = s * 31 + (s >>> 7) + i;
		return s;
	}
	interface Call { long call(long n); }
	static abstract class Base { abstract long up(long n); long go(long n) { return up(n) + 1; } }
	static class Left extends Base { long up(long n) { return w0_abstract(n); } }
	static class Right extends Base { long up(long n) { return w0_super(n); } }
	static long f0(long n) {
		long r = switch ((int) (n % 9)) {
			case 0 -> w0_direct(n);
			case 1 -> w0_lambda(n);
			case 2 -> new Left().go(n);
			case 3 -> new Right().go(n);
			case 4 -> w0_stream(n);
			case 5 -> w0_recursion(n, 12);
			case 6 -> w0_sort(n);
			case 7 -> w0_synchronized(n);
			default -> w0_finally(n);
		};
		return r + spin(n);
	}
	static long w0_direct(long n) { return f1(n) + spin(n); }
	static long w0_lambda(long n) { Call c = x -> f1(x) + n; return c.call(n) + 1; }
	static long w0_abstract(long n) { return f1(n) + 1; }
	static long w0_super(long n) { return f1(n) + spin(n); }
	static long w0_stream(long n) { return LongStream.of(n).map(Ways::f1).sum(); }
	static long deeper(long n, int k) { return k == 0 ? f1(n) : deeper(n, k - 1) + 1; }
	static long w0_recursion(long n, int k) { return deeper(n, k); }
	static long w0_sort(long n) {
		Long[] a = { n, n + 1 };
		Arrays.sort(a, (x, y) -> Long.compare(f1(x), y));
		return a[0];
	}
	static synchronized long alone(long n) { return n + 1; }
	static long w0_synchronized(long n) { alone(n); return f1(n) + spin(n); }
	static long w0_finally(long n) {
		try {
			return spin(n);
		} finally {
			sink += f1(n);
		}
	}

	static long f1(long n) {
		long r = switch ((int) (n / 9 % 9)) {
			case 0 -> w1_reflection(n);
			case 1 -> w1_handle(n);
			case 2 -> w1_proxy(n);
			case 3 -> w1_compute(n);
			case 4 -> w1_optional(n);
			case 5 -> w1_privileged(n);
			case 6 -> w1_catch(n);
			case 7 -> w1_regex(n);
			default -> w1_boxes(n);
		};
		return r + spin(n);
	}
	static final Method F2;
	static final MethodHandle H2;
	static {
		try {
			F2 = Ways.class.getDeclaredMethod("f2", long.class);
			H2 = MethodHandles.lookup().findStatic(Ways.class, "f2", MethodType.methodType(long.class, long.class));
		} catch (ReflectiveOperationException e) {
			throw new RuntimeException(e);
		}
	}
	static long w1_reflection(long n) {
		try {
			return (Long) F2.invoke(null, n);
		} catch (ReflectiveOperationException e) {
			throw new RuntimeException(e);
		}
	}
	static long w1_handle(long n) {
		try {
			return (long) H2.invokeExact(n);
		} catch (Throwable e) {
			throw new RuntimeException(e);
		}
	}
	static final Call proxy = (Call) Proxy.newProxyInstance(Ways.class.getClassLoader(), new Class<?>[] { Call.class },
	                                                         (self, method, a) -> f2((Long) a[0]));
	static long w1_proxy(long n) { return proxy.call(n); }
	static long w1_compute(long n) { return new HashMap<Long, Long>().computeIfAbsent(n, Ways::f2); }
	static long w1_optional(long n) { return Optional.of(n).map(Ways::f2).get(); }
	@SuppressWarnings("removal")
	static long w1_privileged(long n) { return java.security.AccessController.doPrivileged((java.security.PrivilegedAction<Long>) () -> f2(n)); }
	static long thrower(long n) { throw new IllegalStateException(); }
	static long w1_catch(long n) {
		try {
			return n % 4 == 0 ? thrower(n) : f2(n);
		} catch (IllegalStateException e) {
			return f2(n);
		}
	}
	static final Pattern letter = Pattern.compile("b");
	static long w1_regex(long n) { return letter.matcher("abc").replaceAll(m -> "" + (f2(n) & 1)).length(); }
	static long w1_boxes(long n) { Function<Long, Long> a = x -> x + 1; return a.andThen(Ways::f2).apply(n); }

	static long f2(long n) {
		long r = switch ((int) (n / 81 % 9)) {
			case 0 -> w2_comparator(n);
			case 1 -> w2_hash(n);
			case 2 -> w2_equals(n);
			case 3 -> w2_text(n);
			case 4 -> w2_iterator(n);
			case 5 -> w2_constructor(n);
			case 6 -> w2_classvalue(n);
			case 7 -> w2_local(n);
			default -> w2_arguments(n, 1, 2, 3, 4, 5, 6, 7, 8);
		};
		return r + spin(n);
	}
	static long w2_comparator(long n) {
		TreeMap<Long, Long> m = new TreeMap<>((x, y) -> Long.compare(x, y) + (int) (f3(n) & 1));
		m.put(n, n);
		return m.size();
	}
	record Key(long n, int what) implements Comparable<Key> {
		public int hashCode() { return what == 1 ? (int) f3(n) : (int) n; }
		public boolean equals(Object o) { return what == 2 ? f3(n) == 7 : o == this; }
		public String toString() { return "" + f3(n); }
		public int compareTo(Key k) { return what == 3 ? (int) f3(n) : Long.compare(n, k.n); }
	}
	static long w2_hash(long n) { HashSet<Key> s = new HashSet<>(); s.add(new Key(n, 1)); return s.size(); }
	static long w2_equals(long n) { return List.of(new Key(n, 0)).indexOf(new Key(n, 2)); }
	static long w2_text(long n) { return String.valueOf(new Key(n, 0)).length(); }
	static class Once implements Iterator<Long>, Iterable<Long> {
		long n; int left = 1;
		Once(long n) { this.n = n; }
		public Iterator<Long> iterator() { return this; }
		public boolean hasNext() { return left > 0; }
		public Long next() { left--; return f3(n); }
	}
	static long w2_iterator(long n) { long s = 0; for (long x : new Once(n)) s += x; return s; }
	static class Made { final long n; Made(long n) { this.n = f3(n); } }
	static long w2_constructor(long n) { return new Made(n).n; }
	static long w2_classvalue(long n) { return new ClassValue<Long>() { protected Long computeValue(Class<?> c) { return f3(n); } }.get(Ways.class); }
	static long w2_local(long n) { return ThreadLocal.withInitial(() -> f3(n)).get(); }
	static long w2_arguments(long n, long a, long b, long c, long d, long e, long f, long g, long h) {
		return f3(n) + (a ^ b ^ c ^ d ^ e ^ f ^ g ^ h) + spin(n);
	}

	static long f3(long n) {
		long r = switch ((int) (n / 729 % 8)) {
			case 0 -> w3_collect(n);
			case 1 -> w3_flat(n);
			case 2 -> w3_task(n);
			case 3 -> w3_future(n);
			case 4 -> w3_enum(n);
			case 5 -> w3_queue(n);
			case 6 -> w3_format(n);
			default -> w3_array(n);
		};
		return r + spin(n);
	}
	static long w3_collect(long n) { return Stream.of(n).collect(Collectors.groupingBy(Ways::f4)).size(); }
	static long w3_flat(long n) { return Stream.of(n).flatMap(x -> Stream.of(f4(x))).filter(x -> x != 0).count(); }
	static long w3_task(long n) { FutureTask<Long> t = new FutureTask<>(() -> f4(n)); t.run(); return n; }
	static long w3_future(long n) { return CompletableFuture.completedFuture(n).thenApply(Ways::f4).join(); }
	enum Kind { A { long of(long n) { return f4(n); } }, B { long of(long n) { return f4(n) + 1; } }; abstract long of(long n); }
	static long w3_enum(long n) { return Kind.values()[(int) (n & 1)].of(n); }
	static long w3_queue(long n) {
		PriorityQueue<Key> q = new PriorityQueue<>(2, (x, y) -> (int) f4(n));
		q.add(new Key(n, 0));
		q.add(new Key(n + 1, 0));
		return q.size();
	}
	static long w3_format(long n) { return String.format("%s", (Formattable) (f, flags, width, precision) -> f.format("%d", f4(n))).length(); }
	static long w3_array(long n) { long[] a = new long[1]; Arrays.setAll(a, i -> f4(n)); return a[0]; }

	static long f4(long n) {
		long r = switch ((int) (n / 5832 % 6)) {
			case 0 -> w4_atomic(n);
			case 1 -> w4_deopt(n);
			case 2 -> w4_nested(n);
			case 3 -> w4_memory(n);
			case 4 -> w4_resource(n);
			default -> w4_many(n);
		};
		return r + spin(n);
	}
	static long w4_atomic(long n) { return new AtomicLong(n).updateAndGet(Ways::f5); }
	static long typed(Object o, long n) { return o instanceof Integer ? f5(n) : o instanceof Long ? f5(n + 1) : f5(n + 2); }
	static long w4_deopt(long n) { return typed(n % 4099 == 7 ? (Object) n : n % 4099 == 8 ? "" : (Object) 7, n); }
	static long w4_nested(long n) { Supplier<Supplier<Long>> s = () -> () -> f5(n); return s.get().get(); }
	static long w4_memory(long n) { byte[][] b = new byte[20][]; for (int i = 0; i < 20; i++) b[i] = new byte[400]; return f5(n) + b[3].length; }
	static class Open implements AutoCloseable { long n; Open(long n) { this.n = n; } public void close() { sink += f5(n); } }
	static long w4_resource(long n) { try (Open o = new Open(n)) { return spin(o.n); } }
	static long w4_many(long n) { long s = 0; for (int i = 0; i < 3; i++) s += f5(n + i); return s; }

	static long f5(long n) {
		if (n % 3 == 0 && Thread.currentThread().getName().isEmpty())
			Thread.yield();
		return spin(n) + spin(n + 1);
	}

	static void work(long seed) {
		for (long n = seed; !ended; n += 7919)
			sink += f0(n & 0x7fffffff);
	}
	public static void main(String[] a) throws Exception {
		long seconds = Long.parseLong(a[0]);
		int virtual = a.length > 1 ? Integer.parseInt(a[1]) : 0;
		List<Thread> all = new ArrayList<>();
		for (int i = 0; i < 2; i++) {
			int seed = i;
			all.add(new Thread(() -> work(seed)));
		}
		for (int i = 0; i < virtual; i++) {
			int seed = 1000 + i;
			all.add((Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable) () -> work(seed)));
		}
		for (Thread t : all)
			if (t.getState() == Thread.State.NEW)
				t.start();
		System.out.println("ready");
		Thread.sleep(seconds * 1000);
		ended = true;
		System.exit(0);
	}
}
