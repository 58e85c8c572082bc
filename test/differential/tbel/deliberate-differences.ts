/**
 * Where we answer otherwise than the real library, on purpose, and why; `docs/internals/expression-language.md` has the main ones.
 */

const REASONS = {
  char: 'a character is a text of length one here: it prints the same in JSON',
  float: 'single precision is a double here: it prints its digits',
  fold: 'the reference joins literals from left to right, whatever their precedence',
  cast: 'a cast of a negative literal gives null there, by an error of its parser',
  suffix: 'arbitrary precision literals are not supported',
  static:
    'the reference fails at run time where a variable once known as int holds another type; here the value counts',
  for: 'one variable in the head of a loop',
  endless: 'a loop without a test is allowed here: the budget ends it',
  ternary: 'a ternary in a literal is misread at the colons there',
  missing: 'not supported',
  dot: 'a method of a literal number is allowed here',
  library: "the names of the server's library, which is not part of this artifact",
  isdef: 'isdef takes a variable; of a property the reference always says false',
  scope: 'a variable that is read above its first assignment does not exist there yet',
  switch: "a switch with break fails in the reference's parser",
  step: 'x++ inside a larger expression is allowed here',
  wraps: 'products and sums of ints in groups and loops wrap to int there now and then; here they widen, as elsewhere',
  saturates:
    'the reference stops at the border of an int where a variable known from a bit operation takes a step; here it widens',
  byte: 'a byte is an int here; there + joins its digits with what follows, and other operations give null',
  bits: 'bit operations beside a double or a text give null there, an error with its place here',
} as const

export const deliberateDifferences: readonly (readonly [script: string, reason: keyof typeof REASONS])[] = [
  ["return 'abc'[1];", 'char'],
  ['return 1.5f;', 'float'],
  ['return 6 & 3 == 3;', 'fold'],
  ['return 1 | 2 ^ 3 & 1;', 'fold'],
  ['return true || false && false;', 'fold'],
  ['return (int) -3.7;', 'cast'],
  ['return 5B;', 'suffix'],
  ['return 5I;', 'suffix'],
  ['var a = 7; if (true) { a = 9.0; } return a / 2;', 'static'],
  ['for (var i = 0, j = 1; i < 3; i++) { } return 1;', 'for'],
  ['for (;;) { return 1; }', 'endless'],
  ["foreach (c : 'abc') { return c; }", 'char'],
  ['return {n: true ? 0 : 1};', 'ternary'],
  ["return 'abc'.charAt(1);", 'char'],
  ["return ''.getBytes();", 'missing'],
  ['var d = new Date(); return 1;', 'library'],
  ["return 'foobar' strsim 'foobaz';", 'float'],
  ['return isdef msg.a;', 'isdef'],
  ['return (float) 2.5;', 'float'],
  ["for (var i = 0; i < 3; i++) { if (isdef y) { return 'seen'; } y = 1; } return 'no';", 'scope'],
  ["var i = 0; while (i < 3) { i++; if (isdef y) { return 'seen'; } y = 1; } return 'no';", 'scope'],
  ["foreach (e : msg.list) { if (isdef y) { return 'seen'; } y = 1; } return 'no';", 'scope'],
  ['var r = 0; switch (msg.a) { case 7: r = 5; break; default: r = 6; } return r;', 'switch'],
  ['var i = 5; return i++ + 1;', 'step'],
  ['var a = 7; a = a * 1.0; return a / 2;', 'static'],
  ['var a = 7; a *= 1.5; return a / 2;', 'static'],
  ['return -9223372036854775808L;', 'missing'],
  ['return 5 .toString();', 'dot'],
  ['return 5.0.toString();', 'dot'],
  ['return (msg.t ? 2.5 : 15) / 4;', 'static'],
  ['var x = msg.a << 31; --x; return x;', 'saturates'],
  ['var x = msg.a << 31; return [x - 1];', 'wraps'],
  ['return Byte.MAX_VALUE + 1;', 'byte'],
  ["return Byte.parseByte('12') / 5;", 'byte'],
  ['var b = (byte) 200; return b + 1;', 'byte'],
  ['var x = Integer.MAX_VALUE; x++; return x;', 'wraps'],
  ['return msg.d << 1;', 'bits'],
  ['return msg.d & msg.a;', 'bits'],
  ['return 1 & msg.s;', 'bits'],
  ['return ((msg.a | 500000000) * 11) * 15;', 'wraps'],
  ['var s = 1; for (var i = 1; i < 20; i++) { s = s * i; } return s;', 'wraps'],
]

export function reasonText(reason: keyof typeof REASONS): string {
  return REASONS[reason]
}
