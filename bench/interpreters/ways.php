<?php
// SPDX-License-Identifier: MIT
// ways.php SECONDS: functions that call each other in many ways (judge.py): f<K> calls a w<K>_..., which leads to f<K+1>.
function spin($n) { $s = $n; for ($i = 0; $i < 100; $i++) $s = ($s * 31 + $i) & 0xffff; return $s; }
class A implements ArrayAccess, IteratorAggregate, Countable, JsonSerializable {
	function __construct(public $n, public $f) {}
	function go() { return ($this->f)($this->n); }
	function __get($name) { return $this->go(); }
	function __call($name, $a) { return $this->go(); }
	static function __callStatic($name, $a) { return $a[1]($a[0]); }
	function __toString(): string { return '' . $this->go(); }
	function __invoke($n) { return $this->go(); }
	function offsetGet($k): mixed { return $this->go(); }
	function offsetExists($k): bool { return (bool) $this->go(); }
	function offsetSet($k, $v): void { $this->go(); }
	function offsetUnset($k): void { $this->go(); }
	function getIterator(): Iterator { yield $this->go(); }
	function count(): int { return $this->go(); }
	function jsonSerialize(): mixed { return $this->go(); }
}
class Dies { function __construct(public $n) {} function __destruct() { f3($this->n); } }
function way($k, $n) { global $ways; $w = $ways[$k]; return $w[intdiv($n, 9 ** $k) % count($w)]($n); }

function f0($n) { return way(0, $n) + spin($n); }
function w0_direct($n) { return f1($n) + spin($n); }
function w0_closure($n) { $c = function ($x) { return f1($x); }; return $c($n); }
function w0_arrow($n) { return (fn($x) => f1($x))($n); }
function w0_map($n) { return array_map('f1', [$n])[0]; }
function w0_sort($n) { $a = [$n, $n + 1]; usort($a, fn($x, $y) => f1($x) & 1); return $a[0]; }
function w0_reduce($n) { return array_reduce([$n], fn($a, $x) => f1($x)); }
function w0_user($n) { return call_user_func('f1', $n); }
function w0_callable($n) { return f1(...)($n); }
function deeper($n, $k) { return $k ? deeper($n, $k - 1) + 1 : f1($n); }
function w0_recursion($n) { return deeper($n, 15); }

function f1($n) { return way(1, $n) + spin($n); }
function w1_get($n) { return (new A($n, 'f2'))->missing; }
function w1_call($n) { return (new A($n, 'f2'))->missing(); }
function w1_static($n) { return A::missing($n, 'f2'); }
function w1_text($n) { return strlen((string) new A($n, 'f2')); }
function w1_invoke($n) { return (new A($n, 'f2'))($n); }
function w1_index($n) { return (new A($n, 'f2'))[0]; }
function w1_iterator($n) { foreach (new A($n, 'f2') as $x) return $x; }
function w1_count($n) { return count(new A($n, 'f2')); }
function w1_json($n) { return strlen(json_encode(new A($n, 'f2'))); }

function f2($n) { return way(2, $n) + spin($n); }
function w2_regex($n) { return strlen(preg_replace_callback('/b/', fn($m) => f3($n), 'abc')); }
function w2_eval($n) { return eval('return f3($n);'); }
function w2_destruct($n) { new Dies($n); return $n; }
function w2_catch($n) { try { throw new Exception; } catch (Exception $e) { return f3($n); } }
function w2_finally($n) { try { return $n; } finally { f3($n); } }
function w2_generator($n) { $g = (function () { $x = yield 1; yield f3($x); })(); $g->current(); return $g->send($n); }
function w2_reflection($n) { return (new ReflectionFunction('f3'))->invoke($n); }
function w2_filter($n) { return count(array_filter([$n], 'f3')); }
function w2_fiber($n) { $f = new Fiber(fn() => $n); $f->start(); return f3($n); }

function f3($n) { return spin($n) + strlen(str_repeat((string) $n, 30)); }

$ways = [];
foreach (get_defined_functions()['user'] as $f)
	if ($f[0] === 'w' && $f[2] === '_') $ways[$f[1]][] = $f;
echo "ready\n";
$end = microtime(true) + (float) $argv[1];
for ($n = 0; ($n & 63) || microtime(true) < $end; $n++) f0($n * 7919 & 0x7fffffff);
