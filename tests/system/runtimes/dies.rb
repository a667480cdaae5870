# SPDX-License-Identifier: MIT
# dies.rb SECONDS: methods of a class that has a name are made, run and given up, again and again, so that their memory is used by others
# of the same form. drive_5 is the only one that calls gone_5, which runs a block, which calls rest_5.
def work(n)
  x = 1
  n.times { x = (x * 1103515245 + 12345) & 0x7fffffff }
  x
end

class Made
end
8.times { |i| eval("def drive_#{i}(of) of.gone_#{i}(1); 1 end") }
clock = Process::CLOCK_PROCESS_CPUTIME_ID
finish = Process.clock_gettime(clock) + ARGV[0].to_f
draw = Random.new(1)
rounds = 0
while Process.clock_gettime(clock) < finish
  i = draw.rand(8)
  Made.class_eval("def gone_#{i}(n) n.times { rest_#{i}(n) }; n end\ndef rest_#{i}(n) work(n * 3000); n end", "gone_#{i}.rb")
  send("drive_#{i}", Made.new)
  Made.class_eval { remove_method "gone_#{i}", "rest_#{i}" }
  GC.start if rounds % 4 == 0
  rounds += 1
end
puts rounds
