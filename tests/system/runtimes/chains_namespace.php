<?php
// Part of chains_program.php: names with a namespace, and with characters beyond ASCII.
namespace Some\Äußeres;

function leaf_namespace() { \note(); return \work(); }

final class Größe
{
	public function leaf_größe() { \note(); return \work(); }
}

enum Suit: string
{
	case Hearts = 'H';
	public function leaf_enum() { \note(); return \work(); }
}

trait Shared
{
	public function leaf_trait() { \note(); return \work(); }
}

class Using
{
	use Shared;
}

leaf_namespace();
(new Größe)->leaf_größe();
Suit::Hearts->leaf_enum();
(new Using)->leaf_trait();
(new class { public function leaf_anonymous() { \note(); return \work(); } })->leaf_anonymous();
