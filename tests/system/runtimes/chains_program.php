<?php
// chains_program.php SECONDS NOTES: each function leaf_X is reached in a way of its own, writes the chain that PHP itself sees
// there (debug_backtrace) once into the file NOTES, and works. So a sample in it has that chain.
namespace {

$each = (float)$argv[1];
$notes = fopen($argv[2], 'w');

function used(): float
{
	$r = getrusage();
	return $r['ru_utime.tv_sec'] + $r['ru_stime.tv_sec'] + ($r['ru_utime.tv_usec'] + $r['ru_stime.tv_usec']) / 1e6;
}

// The chain from the caller's function on, as "Class::name" a frame.
function note(): void
{
	global $notes;
	$chain = [];
	foreach (array_slice(debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS), 1) as $f) {
		$name = $f['function'];
		if (in_array($name, ['include', 'require', 'include_once', 'require_once', 'eval'], true) && !isset($f['class']))
			$name = '{main}';
		$chain[] = isset($f['class']) ? $f['class'] . '::' . $name : $name;
	}
	$chain[] = '{main}';
	fwrite($notes, json_encode($chain) . "\n");
}

function work(): int
{
	global $each;
	$end = used() + $each;
	$x = 1;
	do {
		for ($i = 0; $i < 2000; $i++)
			$x = ($x * 1103515245 + 12345) & 0x7fffffff;
	} while (used() < $end);
	return $x;
}

function leaf_plain() { note(); return work(); }
function plain() { return leaf_plain(); }
plain();

function leaf_deep() { note(); return work(); }
function deep(int $n) { return $n ? deep($n - 1) + 1 : leaf_deep(); }
deep(300);

function leaf_c() { note(); return work(); }
function by_c(int $n) { return $n ? array_map('by_c', [$n - 1])[0] : leaf_c(); }
by_c(60);

class Shape
{
	public function leaf_method() { note(); return work(); }
	public static function leaf_static() { note(); return work(); }
	public function __call($name, $arguments) { return $this->leaf_call(); }
	public function leaf_call() { note(); return work(); }
	public static function __callStatic($name, $arguments) { return self::leaf_callstatic(); }
	public static function leaf_callstatic() { note(); return work(); }
	public function __toString(): string { $this->leaf_string(); return 'x'; }
	public function leaf_string() { note(); work(); }
	public function __get($name) { return $this->leaf_get(); }
	public function leaf_get() { note(); return work(); }
	public function __invoke() { return $this->leaf_invoke(); }
	public function leaf_invoke() { note(); return work(); }
	public function closure() { return function () { return leaf_closure(); }; }
}
function leaf_closure() { note(); return work(); }
class Square extends Shape
{
	public function inherited() { return $this->leaf_method(); }
}
(new Square)->inherited();
Square::leaf_static();
(new Shape)->anything(1);
Shape::anything(1);
$text = 'a' . new Shape;
$text = (new Shape)->missing;
(new Shape)();
(new Shape)->closure()();
$arrow = fn() => leaf_arrow();
function leaf_arrow() { note(); return work(); }
$arrow();
$first = strlen(...);
$callable = leaf_callable(...);
function leaf_callable($x = 0) { note(); return work(); }
call_user_func_array($callable, [1]);

function leaf_sort() { static $done = 0; if (!$done++) { note(); work(); } }
function in_sort() { $a = [3, 1, 2]; usort($a, function ($x, $y) { leaf_sort(); return $x <=> $y; }); }
in_sort();

function leaf_preg() { note(); work(); return ''; }
function in_preg() { return preg_replace_callback('/a/', fn($m) => leaf_preg(), 'xax'); }
in_preg();

function leaf_generator() { note(); work(); }
function generator() { yield 1; leaf_generator(); yield 2; }
function in_generator() { foreach (generator() as $v) ; }
in_generator();

function leaf_from() { note(); work(); }
function inner_generator() { yield 1; leaf_from(); yield 2; }
function middle_generator() { yield 0; yield from inner_generator(); }
function outer_generator() { yield from middle_generator(); }
function in_from() { foreach (outer_generator() as $v) ; }
in_from();

class Numbers implements Iterator, ArrayAccess, Countable
{
	private int $i = 0;
	public function current(): mixed { return $this->i; }
	public function key(): mixed { return $this->i; }
	public function next(): void { $this->i++; }
	public function rewind(): void { $this->i = 0; }
	public function valid(): bool { if ($this->i == 1) leaf_iterator(); return $this->i < 2; }
	public function offsetExists($o): bool { return true; }
	public function offsetGet($o): mixed { return leaf_array(); }
	public function offsetSet($o, $v): void {}
	public function offsetUnset($o): void {}
	public function count(): int { return leaf_count(); }
}
function leaf_iterator() { note(); work(); }
function leaf_array() { note(); return work(); }
function leaf_count() { note(); work(); return 1; }
function in_iterator() { foreach (new Numbers as $n) ; }
in_iterator();
function in_spl() { return iterator_to_array(new Numbers); }
function in_array_access() { $n = new Numbers; return $n['x']; }
in_array_access();
function in_count() { return count(new Numbers); }
in_count();

class Dying
{
	public function __destruct() { leaf_destruct(); }
}
function leaf_destruct() { note(); work(); }
function dies() { $d = new Dying; return 1; }
function in_destruct() { return dies() + 1; }
in_destruct();
// The last frame of a call of the loop is left already when its variables die.
function dies_at_top($x) { $d = new DyingTop; return $x; }
class DyingTop
{
	public function __destruct() { leaf_destruct_top(); }
}
function leaf_destruct_top() { note(); work(); }
function in_destruct_top() { return array_map('dies_at_top', [1]); }
in_destruct_top();

function leaf_catch() { note(); work(); }
function throws(int $n) { if (!$n) throw new Exception('x'); try { throws($n - 1); } finally { $n = 0; } }
function catches() { try { throws(20); } catch (Exception $e) { leaf_catch(); } }
catches();
function leaf_finally() { note(); work(); }
function in_finally() { try { throw new Exception('y'); } finally { leaf_finally(); } }
try { in_finally(); } catch (Exception $e) { }

set_error_handler(function ($no, $text) { leaf_error(); return true; });
function leaf_error() { note(); work(); }
function in_error() { return $undefined; }
in_error();

spl_autoload_register(function ($class) { leaf_autoload(); eval("class $class {}"); });
function leaf_autoload() { note(); work(); }
function in_autoload() { return new NotThereYet; }
in_autoload();

$file = tempnam(sys_get_temp_dir(), 'seam');
file_put_contents($file, '<?php function leaf_included() { note(); return work(); } function included() { return leaf_included(); } included();');
function in_include($file) { return include $file; }
in_include($file);
unlink($file);

function in_eval() { return eval('return leaf_eval();'); }
function leaf_eval() { note(); return work(); }
in_eval();

if (class_exists('Fiber')) {
	function leaf_fiber() { note(); work(); }
	function in_fiber() { Fiber::suspend(1); leaf_fiber(); }
	function start_fiber() { $f = new Fiber('in_fiber'); $f->start(); resume_fiber($f); }
	function resume_fiber($f) { $f->resume(); }
	start_fiber();
	function leaf_nested() { note(); work(); }
	function nested(int $n) { if (!$n) { leaf_nested(); return; } $f = new Fiber('nested'); $f->start($n - 1); }
	nested(4);
}

// Code that dies, and whose memory is used again by other code.
$each /= 20;
for ($i = 0; $i < 20; $i++) {
	$f = eval("return new class { function leaf_churn_$i() { note(); return work(); } function churn_$i() { return \$this->leaf_churn_$i(); } };");
	$f->{"churn_$i"}();
	unset($f);
	$g = eval("return function () { leaf_again_$i(); }; ");
	eval("function leaf_again_$i() { note(); return work(); }");
	$g();
}
$each *= 20;

require __DIR__ . '/chains_namespace.php';
}
