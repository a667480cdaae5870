# SPDX-License-Identifier: MIT
# chains_program.rb SECONDS NOTES: each function leaf_X is reached in a way of its own, writes the chain that Ruby itself sees there
# (caller_locations) once to the file NOTES, and works. So a sample in it has that chain. Until 3.3 Ruby does not say of which class a
# method is: OWNERS does, where it is not Object.
require 'etc'
require 'fiber'

EACH = ARGV[0].to_f
NOTES = ARGV[1].dup.freeze
NEW = RUBY_VERSION >= '3.4'
OWNERS = Ractor.make_shareable({
  'each' => 'Array#', 'map' => 'Array#', 'sort' => 'Array#', 'sort_by' => 'Enumerable#', 'inject' => 'Enumerable#',
  'each_entry' => 'Enumerable#', 'fetch' => 'Hash#', 'gsub' => 'String#', 'send' => 'Kernel#', 'catch' => 'Kernel#',
  'loop' => 'Kernel#', 'tap' => 'Kernel#', 'times' => 'Integer#', 'load' => 'Kernel#', 'require' => 'Kernel#', 'eval' => 'Kernel#',
  'instance_eval' => 'BasicObject#', 'instance_exec' => 'BasicObject#', 'class_eval' => 'Module#', 'call' => 'Proc#',
  'new' => 'Class#', 'passwd' => 'Etc.', '>' => 'Comparable#',
  'inherited' => 'Shape.', 'leaf_method' => 'Shape#', 'of_square' => 'Square#', 'leaf_static' => 'Shape.', 'by_static' => 'Square.',
  'leaf_module' => 'Named#', 'leaf_extended' => 'Shape::Extending#', 'method_missing' => 'Shape#', 'leaf_missing' => 'Shape#',
  'to_s' => 'Shape#', 'leaf_text' => 'Shape#', '<=>' => 'Shape#', 'leaf_compared' => 'Shape#', '[]' => 'Shape#', 'leaf_index' => 'Shape#',
  'initialize' => 'Square#', 'leaf_initialize' => 'Square#', 'leaf_super' => 'Shape#', 'super_of' => 'Shape#', 'leaf_inherited' => 'Shape.',
  'leaf_prepended' => 'Before#', 'prepended' => 'Before#', 'leaf_singleton' => '', 'leaf_anonymous' => '', 'leaf_class_body' => 'Shape.',
  'leaf_struct' => 'Point#', 'leaf_aliased' => 'Shape#', 'leaf_function' => 'Tools.', 
  'each_of' => 'Numbers#', 'leaf_numbers' => 'Numbers#', 'leaf_churn' => '', 'churn' => '', 'define' => 'Shape#'
})

# A label as Ruby 3.4 has it.
def named(location)
  label = location.label
  base = location.base_label
  unless NEW || base.match?(/\A<[a-z]/)
    of = OWNERS.fetch(base.sub(/_\d+\z/, ''), 'Object#')
    label = label.delete_suffix(base) + of + base
  end
  label.sub(/(?<!:):(?!:).*/, '')
end

def note
  chain = caller_locations(1).map { |l| named(l) }
  File.write(NOTES, "[\"#{chain.join('","')}\"]\n", mode: 'a')
end

def used = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)

def work(seconds = EACH)
  till = used + seconds
  x = 1
  while true
    i = 0
    while i < 2000
      i += 1
      x = (x * 1103515245 + 12345) & 0x7fffffff
    end
    break if used > till
  end
  x
end

def leaf_plain() note; work end
def plain() leaf_plain end
plain

def leaf_deep() note; work end
def deep(n) n > 0 ? deep(n - 1) + 1 : leaf_deep end
deep(500)

def leaf_c() note; work end
def by_c(n) n > 0 ? [n].each { |x| by_c(x - 1) } : leaf_c end
by_c(60)

def leaf_both() note; work end
def by_both(n)
  return leaf_both if n == 0
  n.odd? ? by_both(n - 1) : [n].map { |x| by_both(x - 1) }[0]
end
by_both(200)

module Named
  def leaf_module() note; work end
end

module Before
  def prepended() super; leaf_prepended end
  def leaf_prepended() note; work end
end

class Shape
  include Named
  include Comparable
  prepend Before
  module Extending
    def leaf_extended() note; work end
  end
  def leaf_method() note; work end
  def self.leaf_static() note; work end
  def method_missing(name, *arguments) = leaf_missing
  def respond_to_missing?(*) = true
  def leaf_missing() note; work end
  def to_s() leaf_text; 'x' end
  def leaf_text() note; work end
  def <=>(other) leaf_compared; 0 end
  def leaf_compared() note; work end
  def [](index) = leaf_index
  def leaf_index() note; work end
  def super_of() leaf_super end
  def leaf_super() note; work end
  def prepended() end
  def leaf_aliased() note; work end
  alias other_name leaf_aliased
  class << self
    def inherited(by) super; leaf_inherited end
    def leaf_inherited() note; work end
    def leaf_class_body() note; work end
  end
  leaf_class_body
end

class Square < Shape
  def initialize() leaf_initialize end
  def leaf_initialize() note; work end
  def of_square() leaf_method end
  def self.by_static() leaf_static end
  def super_of() [1].each { super() } end
end
square = Square.new
shape = Shape.new
square.of_square
Square.by_static
square.leaf_module
shape.anything(1)
"a#{shape}"
shape > Shape.new
shape[3]
square.prepended
square.other_name
class Shape; extend Extending; end
Shape.leaf_extended

one = Object.new
def one.leaf_singleton() note; work end
one.leaf_singleton
Class.new { def leaf_anonymous() note; work end }.new.leaf_anonymous
Point = Struct.new(:x) { def leaf_struct() note; work end }
Point.new(1).leaf_struct
module Tools
  module_function
  def leaf_function() note; work end
end
Tools.leaf_function

def leaf_block() note; work end
def yields() yield end
def in_block() yields { yields { yields { leaf_block } } } end
in_block
def leaf_proc() note; work end
procedure = proc { leaf_proc }
def by_proc(p) p.call end
by_proc(procedure)
def leaf_lambda() note; work end
procedure = ->(x) { leaf_lambda }
[1].each(&procedure)
def leaf_symbol() note; work end
def leaf_send() note; work end
def by_send() send(:leaf_send) end
by_send
def leaf_defined() note; work end
class Shape
  define_method(:defined) { leaf_defined }
  def self.define(name) define_method(name) { leaf_bound } end
end
def by_defined() Shape.new.defined end
by_defined
def leaf_bound() note; work end
Shape.define(:bound)
def by_bound() Shape.new.bound end
by_bound
def leaf_instance() note; work end
def in_instance() Object.new.instance_exec(1) { |x| leaf_instance } end
in_instance

def leaf_sort() $sorted ||= (note; work; 1) end
def in_sort() [3, 1, 2].sort { |x, y| leaf_sort; x <=> y } end
in_sort
def leaf_gsub() note; work; '' end
def in_gsub() 'xax'.gsub(/a/) { leaf_gsub } end
in_gsub
def leaf_default() note; work end
def in_default() {}.fetch(1) { leaf_default } end
in_default
def leaf_inject() note; work end
def in_inject() [1, 2].inject { |a, b| leaf_inject } end
in_inject
def leaf_times() note; work end
def in_times() 1.times { leaf_times } end
in_times
def leaf_loop() note; work end
def in_loop() loop { leaf_loop; break } end
in_loop
def leaf_ext() note; work end
def in_ext() Etc.passwd { leaf_ext; break } end
in_ext

class Numbers
  include Enumerable
  def each_of() yield 1; leaf_numbers end
  def leaf_numbers() note; work end
end
def in_numbers() Numbers.new.each_of { } end
in_numbers

def leaf_rescue() note; work end
def raises(n) n > 0 ? [n].each { raises(n - 1) } : raise('x') end
def in_rescue() begin raises(20) rescue leaf_rescue end end
in_rescue unless NEW # it leaves such frames out
def leaf_ensure() note; work end
def in_ensure() begin raises(3) ensure leaf_ensure end end
begin in_ensure rescue nil end unless NEW
def leaf_after() note; work end
def after_raise() begin [1].each { raises(30) } rescue nil end; leaf_after end
after_raise
def leaf_catch() note; work end
def in_catch() catch(:out) { [1].each { throw :out } }; catch(:x) { leaf_catch } end
in_catch
def leaf_retry() note; work end
def in_retry
  n ||= 0
  raise 'x' if (n += 1) < 3
  leaf_retry
rescue
  retry
end
in_retry

def leaf_eval() note; work end
def in_eval() eval('leaf_eval') end
in_eval
def in_file_eval() eval('leaf_file_eval', binding, 'made.rb', 77) end
def leaf_file_eval() note; work end
in_file_eval
Object.class_eval('def leaf_class_eval() note; work end')
leaf_class_eval

# A file is loaded, changed, and loaded again: its code takes the place of that which was there.
file = "#{NOTES}.rb"
4.times do |i|
  File.write(file, "#{"\n" * i}def leaf_loaded_#{i}() note; work end\ndef loaded() leaf_loaded_#{i} end\nloaded\n")
  load file
end
File.delete(file)

def leaf_thread() note; work end
def in_thread() Thread.new { leaf_thread }.join end
in_thread
def leaf_threads() note; work end
3.times.map { Thread.new { [1].each { leaf_threads } } }.each(&:join)
def leaf_fiber() note; work end
def in_fiber() f = Fiber.new { [1].each { Fiber.yield 1; leaf_fiber } }; f.resume; f.resume end
in_fiber
def leaf_nested() note; work end
def nested(n) n > 0 ? Fiber.new { nested(n - 1) }.resume : leaf_nested end
nested(4)
def leaf_behind() note; work end
def behind_fiber() f = Fiber.new { Fiber.yield 1 }; f.resume; leaf_behind end
behind_fiber
Warning[:experimental] = false
def leaf_ractor() note; work end
ractor = Ractor.new { leaf_ractor; 1 }
ractor.respond_to?(:value) ? ractor.value : ractor.take

# Code that dies, whose memory is used by other code; objects that move.
20.times do |i|
  made = Class.new
  made.class_eval("def leaf_churn_#{i}() note; work(EACH / 10) end\ndef churn_#{i}() leaf_churn_#{i} end")
  made.new.send("churn_#{i}")
  made = nil
  GC.start if i % 5 == 4
  GC.compact if i % 7 == 6
end
def leaf_moved() note; work end
def moved(n) n > 0 ? [n].each { moved(n - 1) } : (GC.compact; leaf_moved) end
moved(20)
