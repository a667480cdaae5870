# SPDX-License-Identifier: MIT
# ways.pl SECONDS: subs that call each other in many ways (judge.py): f<K> calls a w<K>_..., which leads to f<K+1>.
use strict;
use warnings;
no warnings 'recursion';
use List::Util qw(first reduce sum);
use Time::HiRes qw(time);
our (@w, $AUTOLOAD);
sub spin { my $s = $_[0]; $s = ($s * 31 + $_) & 0xffff for 1 .. 60; $s }
package A;
use overload '+' => sub { $_[0]->go }, '""' => sub { $_[0]->go }, '==' => sub { $_[0]->go }, '<=>' => sub { $_[0]->go }, '@{}' => sub { [$_[0]->()] };
our $AUTOLOAD;
sub new { my ($c, $n, $f) = @_; bless sub { $f->($n) }, $c }
sub go { $_[0]->() }
sub AUTOLOAD { return if $AUTOLOAD =~ /DESTROY/; $_[0]->go }
package T;
sub TIESCALAR { bless [$_[1], $_[2]] }
sub FETCH { $_[0][1]->($_[0][0]) }
package Dies;
sub new { bless [$_[1]] }
sub DESTROY { main::f2($_[0][0]) }
package main;
sub f0 { my $n = shift; $w[0][$n % @{ $w[0] }]->($n) + spin($n) }
sub w0_direct { f1($_[0]) + spin($_[0]) }
sub w0_anonymous { my $c = sub { f1($_[0]) }; $c->($_[0]) }
sub w0_map { (map { f1($_) } $_[0])[0] }
sub w0_grep { my $n = $_[0]; scalar grep { f1($n) } 1 }
sub w0_sort { my $n = $_[0]; (sort { f1($n) & 1 } 1, 2)[0] }
sub w0_first { my $n = $_[0]; first { f1($n) } 1; $n }
sub w0_reduce { my $n = $_[0]; reduce { f1($n) } 1, 2 }
sub deeper { my ($n, $k) = @_; $k ? deeper($n, $k - 1) + 1 : f1($n) }
sub w0_recursion { deeper($_[0], 15) }
sub f1 { my $n = shift; $w[1][$n / 8 % @{ $w[1] }]->($n) + spin($n) }
sub w1_add { A->new($_[0], \&f2) + 1 }
sub w1_text { length '' . A->new($_[0], \&f2) }
sub w1_compare { A->new($_[0], \&f2) == 1 }
sub w1_autoload { A->new($_[0], \&f2)->missing }
sub w1_tie { tie my $x, 'T', $_[0], \&f2; $x + 1 }
sub w1_eval { my $n = $_[0]; eval { f2($n) } }
sub w1_text_eval { my $n = $_[0]; eval 'f2($n)' }
sub w1_die { my $n = $_[0]; eval { die "x\n" } or f2($n) }
sub w1_destroy { Dies->new($_[0]); 1 }
sub w1_regex { my $n = $_[0]; (my $s = 'abc') =~ s/b/f2($n)/e; length $s }
sub w1_method { my $m = 'go'; A->new($_[0], \&f2)->$m }
sub w1_symbol { no strict 'refs'; &{'main::f2'}($_[0]) }
sub w1_local { local $SIG{__WARN__} = sub { f2(1) }; warn 'x'; 1 }
sub f2 { my $n = shift; spin($n) + length($n x 30) }
for my $k (0, 1) {
	no strict 'refs';
	$w[$k] = [map { \&{"main::$_"} } sort grep { /^w${k}_/ && defined &{"main::$_"} } keys %main::];
}
$| = 1;
print "ready\n";
my $end = time + $ARGV[0];
for (my $n = 0; $n & 63 || time < $end; $n++) { f0($n * 7919 & 0x7fffffff) }
