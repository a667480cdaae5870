# SPDX-License-Identifier: MIT
# ways.rb SECONDS: methods that call each other in many ways (judge.py): f<K> calls a w<K>_..., which leads to f<K+1>.
def spin(n) = (s = n; 30.times { |i| s = (s * 31 + i) & 0xffff }; s)

def f0(n) = send(W0[n % W0.size], n) + spin(n)
def w0_direct(n) = f1(n) + spin(n)
def w0_block(n) = [n].each { |x| f1(x) }.size
def w0_lambda(n) = ->(x) { f1(x) }.call(n)
def w0_map(n) = [n].map(&method(:f1)).first
def w0_sort(n) = [n, n + 1].sort_by { |x| f1(x) }.first
def w0_inject(n) = [n, n].inject { |_, x| f1(x) }
def w0_yield(n) = taken { f1(n) }
def taken = yield
def w0_send(n) = public_send(:f1, n)
def deeper(n, k) = k == 0 ? f1(n) : deeper(n, k - 1) + 1
def w0_recursion(n) = deeper(n, 20)
public
class A
  include Comparable
  attr_reader :n
  def initialize(n, f) = (@n = n; @f = f)
  def go = $main.send(@f, @n)
  def hash = go
  def eql?(_) = go == 0
  def ==(_) = go == 0
  def <=>(_) = go & 1
  def +(x) = go + x
  def to_s = go.to_s
  def each = yield(go)
  def method_missing(name, *) = name == :missing ? go : super
  def respond_to_missing?(*) = false
  def coerce(x) = [x, go]
  def [](_) = go
  def to_proc = ->(x) { go + x }
end
$main = self
def f1(n) = send(W1[n / 9 % W1.size], n) + spin(n)
def w1_hash(n) = { A.new(n, :f2) => 1 }.size
def w1_equal(n) = [A.new(n, :f2)].include?(n) ? 1 : 0
def w1_compare(n) = [A.new(n, :f2), A.new(n, :f2)].max.n
def w1_add(n) = A.new(n, :f2) + 1
def w1_text(n) = "#{A.new(n, :f2)}".size
def w1_missing(n) = A.new(n, :f2).missing
def w1_coerce(n) = 1 + A.new(n, :f2)
def w1_index(n) = A.new(n, :f2)[0]
def w1_proc(n) = [n].map(&A.new(n, :f2)).first
def f2(n) = send(W2[n / 81 % W2.size], n) + spin(n)
def w2_gsub(n) = 'abc'.gsub(/b/) { f3(n).to_s }.size
def w2_eval(n) = eval('f3(n)')
def w2_rescue(n)
  raise ArgumentError
rescue ArgumentError
  f3(n)
end
def w2_ensure(n)
  n
ensure
  f3(n)
end
def w2_catch(n) = catch(:x) { throw :x, f3(n) }
def w2_define(n) = made(n)
define_method(:made) { |n| f3(n) } if respond_to?(:define_method, true)
self.class.send(:define_method, :made) { |n| f3(n) }
def w2_instance(n) = A.new(n, :f3).instance_eval { go }
def w2_default(n) = Hash.new { |_, k| f3(k) }[n]
def w2_times(n) = (r = 0; 1.times { r = f3(n) }; r)
def f3(n) = send(W3[n / 729 % W3.size], n) + spin(n)
def w3_tap(n) = n.tap { |x| f4(x) }
def w3_group(n) = [n].group_by { |x| f4(x) }.size
def w3_bind(n) = method(:f4).unbind.bind(self).call(n)
def w3_lazy(n) = (1..3).lazy.map { |x| f4(n + x) }.first
def w3_step(n) = 1.step(2, 2) { f4(n) }
def w3_curry(n) = ->(a, b) { f4(a + b) }.curry[n][1]
def f4(n) = spin(n) + (n.to_s * 20).size
W0, W1, W2, W3 = (0..3).map { |k| self.class.instance_methods.concat(self.class.private_instance_methods).grep(/\Aw#{k}_/).sort }
ended = false
threads = 2.times.map { |i| Thread.new { n = i; f0(n += 7919) until ended } }
$stdout.puts 'ready'
$stdout.flush
sleep ARGV[0].to_f
ended = true
threads.each(&:join)
