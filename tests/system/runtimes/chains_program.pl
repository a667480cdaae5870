# chains_program.pl SECONDS NOTES: each function leaf_X is reached in a way of its own, writes the chain that Perl itself sees there
# (caller) once into the file NOTES, and works. So a sample in it has that chain.
use strict;
use warnings;
no warnings qw(recursion once redefine experimental);
use feature qw(say state defer try lexical_subs);
use List::Util qw(first any reduce sum);
use Sub::Util ();
use threads;
use utf8;

our ($each, $path) = @ARGV;
open my $notes, '>:utf8', $path or die "$path: $!";
$notes->autoflush(1);
our ($file, $tail) = ('(require)', '(main)'); # what caller() does not tell: a file's code by do; what is outermost

sub text { return '"' . join('', map { ord > 126 || /["\\]/ ? sprintf('\u%04x', ord) : $_ } split //, $_[0]) . '"' }

# The chain from the caller's sub on. A block is no function.
sub note {
	my @chain;
	for (my $i = 1; my @f = caller $i; $i++) {
		if ($f[3] ne '(eval)') {
			push @chain, $f[3];
		} elsif ($f[7]) {
			push @chain, $file;
		} elsif (defined $f[6]) {
			push @chain, '(eval)';
		}
	}
	push @chain, $tail if $tail;
	print $notes '[', join(', ', map { text($_) } @chain), "]\n";
}

sub work {
	my $end = (times)[0] + (times)[1] + $each;
	my $x = 1;
	while ((times)[0] + (times)[1] < $end) {
		for my $i (1 .. 500) {
			$x = ($x * 1103515 + 12345) & 0x7fffffff;
		}
	}
	return $x;
}

sub leaf_plain { note(); work() }
sub plain { leaf_plain() }
plain();

sub leaf_deep { note(); return work() }
sub deep { my ($n) = @_; return $n ? deep($n - 1) + 1 : leaf_deep() }
deep(500);

sub leaf_statement { note(); work() }
sub statement { $_[0] ? statement($_[0] - 1) : leaf_statement() }
statement(50);

# ---- C in the middle ----

sub leaf_first { note(); work() }
sub by_first { my ($n) = @_; return $n ? first { by_first($n - 1) } 1 : leaf_first() }
by_first(60);

sub leaf_any { note(); work() }
my $any = any { leaf_any() } (1);

sub leaf_reduce { note(); work() }
reduce { leaf_reduce() + $a + $b } 1, 2;

sub leaf_map { note(); work() }
sub by_map { map { grep { leaf_map() } ($_) } (1) }
by_map();

sub leaf_sort_block { note(); work() }
sub sort_block { my @a = sort { leaf_sort_block(); $a <=> $b } (2, 1) }
sort_block();

sub leaf_sort_last { note(); work(); 1 }
sub sort_last { my @a = sort { leaf_sort_last() } (2, 1) }
sort_last();

sub leaf_sort_sub { note(); work() }
sub order { leaf_sort_sub(); $a <=> $b }
sub sort_sub { my @a = sort order 2, 1 }
sort_sub();

sub leaf_sort_stacked { note(); work() }
sub stacked ($$) { leaf_sort_stacked(); 1 }
sub sort_stacked { my @a = sort stacked 2, 1 }
sort_stacked();

sub leaf_sort_deep { note(); work(); 1 }
sub sort_deep { my ($n) = @_; my @a = sort { $n ? sort_deep($n - 1) : leaf_sort_deep() } (2, 1); 1 }
{
	local $each = $each / 16;
	sort_deep(3);
}

sub leaf_sort_number { note(); work() }
{
	package Number;
	use overload '<=>' => sub { main::leaf_sort_number(); 1 }, '+' => sub { main::leaf_plus(); 1 },
		'""' => sub { main::leaf_string(); 'x' }, 'bool' => sub { main::leaf_bool(); 1 }, '&{}' => sub { \&main::leaf_called };
	sub new { bless {}, shift }
}
sub sort_number { my @a = sort { $a <=> $b } map { Number->new } 1, 2 }
sort_number();

sub leaf_plus { note(); work() }
sub plus { my $x = Number->new + 1 }
plus();

sub leaf_string { note(); work() }
sub string { my $x = 'a' . sprintf '%s', Number->new }
string();

sub leaf_bool { note(); work() }
sub bool { first { my $x = Number->new } 1 }
bool();

sub leaf_called { note(); work() }
sub called { Number->new->() }
called();

sub leaf_subst { note(); work() }
sub subst { my $x = 'a'; $x =~ s/a/leaf_subst()/e }
subst();

sub leaf_subst_twice { note(); work(); 'leaf_subst_inner()' }
sub leaf_subst_inner { note(); work() }
sub subst_twice { my $x = 'a'; $x =~ s/a/leaf_subst_twice()/ee }
subst_twice();

sub leaf_regex { note(); work() }
sub regex { 'ab' =~ /a(?{ leaf_regex() })b/ }
regex();

sub leaf_regex_more { note(); work() }
sub regex_more { 'ab' =~ /a(?{ my $x = leaf_regex_more(); 1 })b/ }
regex_more();

sub leaf_regex_made { note(); work(); 'b' }
my $made = qr/(??{ leaf_regex_made() })/;
sub regex_made { 'ab' =~ /a$made/ }
regex_made();

# ---- evals, exceptions ----

sub leaf_block { note(); work() }
sub block { eval { eval { leaf_block() } } }
block();

sub leaf_text { note(); work() }
sub text_of { eval 'my $x = 1; eval q{leaf_text()}; 1' }
text_of();

sub leaf_caught { note(); work() }
sub thrower { my ($n) = @_; $n ? thrower($n - 1) : die "x\n" }
sub caught { eval { thrower(20) }; leaf_caught() }
caught();

sub leaf_die { note(); work() }
sub dies { local $SIG{__DIE__} = sub { leaf_die() }; eval { thrower(3) } }
dies();

sub leaf_warn { note(); work() }
sub warns { local $SIG{__WARN__} = sub { leaf_warn() }; warn "x" }
warns();

# an eval in what was called from C: a loop of its own
sub leaf_docatch { note(); work() }
sub leaf_behind { note(); work() }
sub docatch { first { eval { leaf_docatch() }; leaf_behind() } 1 }
docatch();

sub leaf_caught_deep { note(); work() }
sub caught_deep { my ($n) = @_; $n ? first { eval { caught_deep($n - 1) } } 1 : leaf_caught_deep() }
caught_deep(40);

sub leaf_try { note(); work() }
sub leaf_catch { note(); work() }
sub tries { try { leaf_try(); die "x\n" } catch ($e) { leaf_catch() } }
tries();

sub leaf_defer { note(); work() }
sub defers { defer { leaf_defer() } 1 }
defers();

sub leaf_defer_plus { note(); work() }
sub defer_plus { defer { my $x = Deferred->new + 1 } 1 }
{ package Deferred; use overload '+' => sub { main::leaf_defer_plus() }; sub new { bless {}, shift } }
defer_plus();

# ---- magic ----

{
	package Tied;
	sub TIESCALAR { bless {}, shift }
	sub FETCH { main::leaf_fetch() }
	sub STORE { main::leaf_store() }
	sub TIEHANDLE { bless {}, shift }
	sub PRINT { main::leaf_print() }
	sub TIEHASH { bless {}, shift }
	sub EXISTS { main::leaf_exists() }
	sub FIRSTKEY { main::leaf_firstkey(); undef }
}
sub leaf_fetch { note(); work() }
sub leaf_store { note(); work() }
sub leaf_print { note(); work() }
sub leaf_exists { note(); work() }
sub leaf_firstkey { note(); work() }
sub ties {
	tie my $x, 'Tied';
	my $y = $x;
	$x = 2;
	tie *HANDLE, 'Tied';
	print HANDLE 'x';
	tie my %h, 'Tied';
	my $e = exists $h{x};
	my @k = keys %h;
}
ties();

{ package Dying; sub new { bless [$_[1]], $_[0] } sub DESTROY { $_[0][0]->() } }
sub leaf_destroy { note(); work() }
sub destroyed { my $x = Dying->new(\&leaf_destroy); 1 }
destroyed();
sub leaf_undef { note(); work() }
sub undefined { my $x = Dying->new(\&leaf_undef); undef $x; 1 }
undefined();
sub leaf_closure_dies { note(); work() }
sub closure_dies { my $x = Dying->new(\&leaf_closure_dies); my $f = sub { $x }; undef $x; sub { undef $f }->(); 1 }
closure_dies();
sub leaf_unwound { note(); work() }
sub unwound { my $x = Dying->new(\&leaf_unwound); die "x\n" }
sub unwinds { eval { unwound() } }
unwinds();

sub leaf_signal { note(); work() }
sub signals { local $SIG{USR1} = sub { leaf_signal() }; kill 'USR1', $$; my $x = 1; $x++ for 1 .. 10; 1 }
signals();

# ---- names ----

sub AUTOLOAD { our $AUTOLOAD; return if $AUTOLOAD =~ /DESTROY/; leaf_autoload() }
sub leaf_autoload { note(); work() }
not_there();

sub leaf_goto { note(); work() }
sub target { leaf_goto() }
sub goes { goto &target }
goes(1);

sub leaf_anonymous { note(); work() }
my $anonymous = sub { my ($f) = @_; $f->() };
$anonymous->(sub { leaf_anonymous() });

sub leaf_method { note(); work() }
{ package Shape; sub new { bless {}, shift } sub area { main::leaf_method() } package Square; our @ISA = 'Shape'; sub area { my $s = shift; $s->SUPER::area() } }
{
	my $method = 'area';
	Square->new->$method;
}

sub leaf_lexical { note(); work() }
sub lexical { my sub inner { leaf_lexical() } inner() }
lexical();

sub leaf_named { note(); work() }
my $named = Sub::Util::set_subname('Some::Package::given', sub { leaf_named() });
$named->();

sub leaf_aliased { note(); work() }
{
	no strict 'refs';
	*{'Other::name'} = sub { leaf_aliased() };
	*Third::name = *Other::name;
}
Third::name();

sub leaf_zähler { note(); work() }
{ package Grüße::Ω; sub größe { main::leaf_zähler() } }
Grüße::Ω::größe();

sub leaf_signature { note(); work() }
use feature "signatures";
sub signature ($x, $y = leaf_signature()) { $x }
signature(1);
no feature "signatures";

our $again = 0;
for my $i (1 .. 30) {
	local $each = $each / 30;
	eval "sub leaf_churn$i { note(); work() } sub churn { leaf_churn$i() } 1" or die $@;
	churn();
	undef &churn;
}
sub leaf_again { note(); work() }
for my $i (1 .. 30) {
	local $each = $each / 30;
	my $code = eval "sub { my \$x = $i; leaf_again() }";
	$code->();
}

# ---- files, phases, formats ----

my $other = "$path.pl";
open my $f, '>', $other or die;
print $f "package Other; sub go { main::leaf_file() } go(); use Phase; 1;\n";
close $f;
$INC{'Phase.pm'} = 1;
sub Phase::import { leaf_import() }
sub leaf_import { note(); work() }
sub leaf_file { note(); work() }
sub requires { require $other }
requires();
sub does { local $main::file = '(do)'; do $other }
does();

sub leaf_begin { note(); work() }
sub begins { eval 'BEGIN { leaf_begin() } 1' }
begins();

# caller() cannot tell it.
sub leaf_format { print $notes qq(["main::leaf_format", "main::FORMATTED", "main::writes", "(main)"]\n); work(); 'x' }
format FORMATTED =
@<
main::leaf_format()
.
sub writes { open FORMATTED, '>', '/dev/null'; write FORMATTED; close FORMATTED }
writes();

# ---- threads ----

sub leaf_thread { note(); work() }
sub leaf_thread_sort { note(); work(); 1 }
sub threaded { leaf_thread(); my @a = sort { leaf_thread_sort() } (2, 1) }
$tail = '';
threads->create(\&threaded)->join;

sub leaf_end { note(); work() }
END { leaf_end() if $each }
