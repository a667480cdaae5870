<?php
// SPDX-License-Identifier: MIT
// dies.php SECONDS FOLDER: files are included, again and again, whose code dies with the call, so that its memory is used by that of others
// of the same form. drive_5 is the only one that includes gone_5.php, which includes rest_5.php.
[$_, $seconds, $folder] = $argv;
for ($i = 0; $i < 8; $i++) {
	file_put_contents("$folder/gone_$i.php", "<?php\nreturn 1 + include '$folder/rest_$i.php';\n");
	file_put_contents("$folder/rest_$i.php", "<?php\nreturn work(\$n ?? 3000);\n");
	eval("function drive_$i(\$folder) { return 1 + include \"\$folder/gone_$i.php\"; }");
}
function work($n)
{
	for ($x = 1; $n > 0; $n--) $x = ($x * 1103515245 + 12345) & 0x7fffffff;
	return $x;
}
mt_srand(1);
$used = fn() => getrusage()['ru_utime.tv_sec'] + getrusage()['ru_utime.tv_usec'] / 1e6;
for ($rounds = 0; $used() < $seconds; $rounds++)
	('drive_' . mt_rand(0, 7))($folder);
echo "$rounds\n";
