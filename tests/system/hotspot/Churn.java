// SPDX-License-Identifier: MIT
// Churn.java: classes that are loaded, compiled, and unloaded, again and again, so that memory of methods and of compiled code
// is used anew: two classes whose methods must not be taken for each other's. It works SECONDS of wall-clock time at most.
import java.nio.file.*;
public class Churn {
	static volatile long sink;
	public interface Job { long run(int n); }
	public static long leaf(int n) { long s = n; for (int i = 0; i < 200; i++) s = s * 31 + i; return s; }
	static long outer(Job j, int n) { return j.run(n) + 1; }
	public static class J0 implements Job { public long run(int n) { return in0(n); } long in0(int n) { return leaf(n) + 1; } }
	public static class J1 implements Job { public long run(int n) { return in1(n); } long in1(int n) { return leaf(n) + 2; } }
	static class Own extends ClassLoader {
		final byte[] b; final String n;
		Own(byte[] b, String n) { super(Churn.class.getClassLoader()); this.b = b; this.n = n; }
		protected Class<?> loadClass(String s, boolean r) throws ClassNotFoundException { if (!s.equals(n)) return super.loadClass(s, r); Class<?> c = findLoadedClass(s); return c != null ? c : defineClass(s, b, 0, b.length); }
	}
	static void churn(byte[][] b, long end) throws Exception { for (int k = 1; System.currentTimeMillis() < end; k++) { Job[] js = new Job[2]; for (int i = 0; i < 2; i++) js[i] = (Job) new Own(b[i], "Churn$J" + i).loadClass("Churn$J" + i).getDeclaredConstructor().newInstance(); for (int r = 0; r < 3000; r++) sink += outer(js[r & 1], r); if ((k & 15) == 0) System.gc(); } }
	static void body(byte[][] b, long end) { try { churn(b, end); } catch (Exception e) { throw new RuntimeException(e); } }
	public static void main(String[] a) throws Exception { long end = System.currentTimeMillis() + Long.parseLong(a[0]) * 1000; byte[][] b = new byte[2][]; for (int i = 0; i < 2; i++) b[i] = Churn.class.getResourceAsStream("Churn$J" + i + ".class").readAllBytes(); Thread[] t = new Thread[2]; for (int i = 0; i < 2; i++) { t[i] = new Thread(() -> body(b, end)); t[i].start(); } System.out.println("ready"); for (Thread x : t) x.join(); }
}
