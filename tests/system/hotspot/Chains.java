// SPDX-License-Identifier: MIT
// Chains.java: a chain of calls that the name of each method tells (chains_check.py has who may call whom). A method is one
// line, so that a line says which method it is of. It works until it is ended, or SECONDS of CPU time at most.
import java.util.*;
import java.util.function.*;
public class Chains {
	static volatile long sink;
	static long seed = 1;
	static long rnd() { seed = seed * 6364136223846793005L + 1442695040888963407L; return seed >>> 33; }
	static long leaf(int n) { long s = n; for (int i = 0; i < 40 + (n & 63); i++) s = s * 31 + i; return s; }
	// a chain of distinct methods
	static long c1(int n) { return c2(n) + 1; }
	static long c2(int n) { return c3(n) + 1; }
	static long c3(int n) { long r = c4(n); return r + (r & 1); }
	static long c4(int n) { return (n & 7) == 0 ? c5(n) + c5(n + 1) : c5(n); }
	static long c5(int n) { long s = 0; for (int i = 0; i < 3; i++) s += c6(n + i); return s; }
	static long c6(int n) { return c7(n) ^ 3; }
	static long c7(int n) { return leaf(n); }
	// interfaces, three and more of them
	interface Shape { long area(int n); }
	static class A implements Shape { public long area(int n) { return leaf(n) + 1; } }
	static class B implements Shape { public long area(int n) { return leaf(n) + 2; } }
	static class C implements Shape { public long area(int n) { return leaf(n) + 3; } }
	static class D implements Shape { public long area(int n) { return c6(n) + 4; } }
	static final Shape[] shapes = { new A(), new B(), new C(), new D() };
	static long shape(int n) { long s = 0; for (int i = 0; i < 4; i++) s += shapes[(n + i) & 3].area(n); return s; }
	static abstract class V { abstract long v(int n);
		long up(int n) { return v(n) + 1; } }
	static class V1 extends V { long v(int n) { return leaf(n); } }
	static class V2 extends V { long v(int n) { return leaf(n + 1); } }
	static class V3 extends V { long v(int n) { return leaf(n + 2); } }
	static final V[] vs = { new V1(), new V2(), new V3() };
	static long virt(int n) { long s = 0; for (int i = 0; i < 3; i++) s += vs[(n + i) % 3].up(n); return s; }
	// recursion, synchronized, exceptions
	static long rec(int n, int k) { return n == 0 ? leaf(k) : rec(n - 1, k) + 1; }
	static synchronized long sync(int n) { return sync2(n); }
	static long sync2(int n) { synchronized (shapes) { return leaf(n) + c7(n); } }
	static long thrower(int n) { if ((n & 3) == 0) throw new IllegalStateException("x"); return leaf(n); }
	static long thrown(int n) { return thrower(n) + 1; }
	static long catcher(int n) { try { return thrown(n); } catch (IllegalStateException e) { return leaf(n) + e.getMessage().length(); } }
	// lambdas
	static long lam(int n) { LongUnaryOperator f = x -> leaf((int) x) + n; return f.applyAsLong(n & 1023); }
	static long sorted(int n) { Integer[] a = new Integer[60]; for (int i = 0; i < a.length; i++) a[i] = (int) (rnd() & 1023); Arrays.sort(a, Chains::cmp); return a[3]; }
	static int cmp(Integer a, Integer b) { return Integer.compare((int) leaf2(a), (int) leaf2(b)); }
	static long leaf2(int n) { return n * 17L % 1009; }
	// natives and assembler
	static final byte[] big = new byte[1 << 16], other = new byte[1 << 16];
	static long copy(int n) { System.arraycopy(big, n & 15, other, 5, (1 << 15) + (n & 255)); return other[n & 1023]; }
	static long crc(int n) { java.util.zip.CRC32 c = new java.util.zip.CRC32(); c.update(big, 0, 4096 + (n & 511)); return c.getValue(); }
	static long zip(int n) { java.util.zip.Deflater d = new java.util.zip.Deflater(1); d.setInput(big, 0, 2048); d.finish(); int r = d.deflate(other); d.end(); return r; }
	static long name(int n) { try { return Class.forName((n & 1) == 0 ? "java.util.BitSet" : "java.util.Vector").hashCode(); } catch (ClassNotFoundException e) { return 0; } }
	static long text(int n) { StringBuilder b = new StringBuilder(); for (int i = 0; i < 30; i++) b.append(i * n).append(','); return b.toString().hashCode(); }
	static long maps(int n) { HashMap<Integer, Long> m = new HashMap<>(); for (int i = 0; i < 60; i++) m.merge((int) (rnd() & 31), 1L, Long::sum); return m.size(); }
	static long waste(int n) { long s = 0; for (int i = 0; i < 40; i++) { byte[] b = new byte[512 + (n & 511)]; b[i] = 1; s += b[i]; } return s; }
	static long reflect(int n) { try { return (Long) R.invoke(null, n); } catch (ReflectiveOperationException e) { throw new RuntimeException(e); } }
	static final java.lang.reflect.Method R;
	static { try { R = Chains.class.getDeclaredMethod("c7", int.class); } catch (Exception e) { throw new RuntimeException(e); } }
	// deoptimization: a type that was never seen comes now and then
	static long mono(Object o, int n) { return o instanceof Integer ? leaf(n) : o instanceof Long ? leaf(n + 1) : c7(n); }
	static long deopt(int n) { return mono((n & 0x3fff) == 77 ? (Object) 5L : (n & 0x3fff) == 78 ? "s" : (Object) 7, n); }
	static long one(int n) { switch (n % 18) { case 0: return c1(n); case 1: return shape(n); case 2: return virt(n); case 3: return rec(30, n); case 4: return sync(n); case 5: return catcher(n >> 4); case 6: return lam(n); case 7: return sorted(n); case 8: return copy(n); case 9: return crc(n); case 10: return (n & 63) == 10 ? zip(n) : c1(n); case 11: return name(n); case 12: return text(n); case 13: return maps(n); case 14: return waste(n); case 15: return reflect(n); case 16: return deopt(n); default: return c4(n); } }
	static void work(int n) { sink += one(n); }
	static long cpu() { return java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime(); }
	static void loop(long end) { for (int n = 0; (n & 1023) != 0 || cpu() < end; n++) work(n); }
	public static void main(String[] a) throws Exception { for (int i = 0; i < big.length; i++) big[i] = (byte) (rnd() & 15); System.out.println("ready"); loop(Long.parseLong(a[0]) * 1000000000L); }
}
