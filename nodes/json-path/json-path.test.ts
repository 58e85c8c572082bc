import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isMillraceError } from '../../model/errors.ts'
import { parseJson, stringifyJson } from '../../model/json.ts'
import type { JsonValue } from '../../model/json.ts'
import { compileJsonPath } from './json-path.ts'

const STORE = `{"store":{"book":[
  {"category":"reference","author":"Nigel Rees","title":"Sayings","price":8.95},
  {"category":"fiction","author":"Evelyn Waugh","title":"Sword","price":12.99},
  {"category":"fiction","author":"Herman Melville","title":"Moby","isbn":"0-553","price":8.99},
  {"category":"fiction","author":"J. R. R. Tolkien","title":"Lord","isbn":null,"price":"22.99"}],
  "bicycle":{"color":"red","price":19.0}},"expensive":10,"tags":["a","b","c"],"big":9007199254740993}`

async function select(path: string, text = STORE): Promise<string> {
  return stringifyJson((await compileJsonPath(path))(parseJson(text)))
}

test('a path to one place gives the value there, spelled as it was', async () => {
  for (const [path, expected] of [
    ['$.store.bicycle.price', '19.0'],
    ["$['store']['bicycle']", '{"color":"red","price":19.0}'],
    ['$["big"]', '9007199254740993'],
    ['$.store.book[0].title', '"Sayings"'],
    ['$.store.book[-1].title', '"Lord"'],
    ['$.store.book[3].isbn', 'null'],
    ['expensive', '10'],
    ["$.store.['bicycle'].color", '"red"'],
    // A place behind the end of a list holds null.
    ['$.tags[3]', 'null'],
    ['$.tags[-4]', 'null'],
    ["$.store.bicycle['color','price','size']", '{"color":"red","price":19.0}'],
  ] as const) {
    assert.equal(await select(path), expected, path)
  }
  assert.equal(await select("$['a\\'b']", `{"a'b":1}`), '1')
  assert.equal(await select('$.$ref', '{"$ref":1}'), '1')
  assert.equal(await select('$.ns:temp', '{"ns:temp":1}'), '1')
})

test('a path that may meet several places gives a list', async () => {
  for (const [path, expected] of [
    ['$.tags[*]', '["a","b","c"]'],
    ['$.tags[0,2]', '["a","c"]'],
    ['$.tags[0,7]', '["a",null]'],
    ['$.tags[0:3:2]', '["a","b","c"]'],
    ['$..tags[9]', '[null]'],
    ['$.store.book[0,9].title', '["Sayings"]'],
    ['$.tags[1:]', '["b","c"]'],
    ['$.tags[:2]', '["a","b"]'],
    ['$.tags[-2:]', '["b","c"]'],
    ['$.tags[:-1]', '["a","b"]'],
    ['$.tags[-2:-1]', '["b"]'],
    ['$.tags[0:-1]', '[]'],
    ['$.tags[5:]', '[]'],
    ['$..price', '[8.95,12.99,8.99,"22.99",19.0]'],
    ['$.store..color', '["red"]'],
    ['$..book[0].title', '["Sayings"]'],
    ['$.store.bicycle.*', '["red",19.0]'],
    ['$.store.book[*].isbn', '["0-553",null]'],
    ["$.store.book[*]['title','price'].x", '[]'],
    ['$..nothing', '[]'],
    ['$.expensive.*', '[]'],
  ] as const) {
    assert.equal(await select(path), expected, path)
  }
})

test('filters compare values, paths and texts', async () => {
  for (const [condition, expected] of [
    ['@.price < 10', ['Sayings', 'Moby']],
    ['@.price < $.expensive', ['Sayings', 'Moby']],
    ['@.isbn', ['Moby', 'Lord']],
    ['!@.isbn', ['Sayings', 'Sword']],
    ['@.isbn == null', ['Lord']],
    ["@.category == 'fiction' && @.price < 10", ['Moby']],
    ["@.category=='reference'||@.title=='Lord'", ['Sayings', 'Lord']],
    ["!(@.category == 'fiction')", ['Sayings']],
    ["@.category == 'fiction' && @.isbn || @.price == 8.95", ['Sayings', 'Moby', 'Lord']],
    ['@.price == 22.99', ['Lord']],
    ['@.price === 22.99', []],
    ['@.price != 8.95', ['Sword', 'Moby', 'Lord']],
    ['@.author =~ /.*rees/i', ['Sayings']],
    ['@.author =~ /Rees/', []],
    ['@.title in [\'Sword\', "Moby"]', ['Sword', 'Moby']],
    ["@.title nin ['Sword', 'Moby']", ['Sayings', 'Lord']],
    ["@.title contains 'or'", ['Sword', 'Lord']],
    ['@.title size 4', ['Moby', 'Lord']],
    ['@.isbn empty false', ['Moby']],
    ["'Lord' == @.title", ['Lord']],
    ["@['title'] > 'N'", ['Sayings', 'Sword']],
    ['@.nothing < 5', []],
    ['@.nothing != 5', ['Sayings', 'Sword', 'Moby', 'Lord']],
    ['@.nothing == @.absent', []],
    ['@.nothing != @.absent', ['Sayings', 'Sword', 'Moby', 'Lord']],
    ['@.nothing == null', []],
    ['$.tags.length() == 3 && @.price >= 12.99', ['Sword']],
    ["$.tags subsetof ['a','b','c','d'] && @.price <= 8.95", ['Sayings']],
    ["$.tags anyof ['c'] && $.tags noneof ['z'] && @.isbn == '0-553'", ['Moby']],
  ] as const) {
    assert.equal(await select(`$.store.book[?(${condition})].title`), JSON.stringify(expected), condition)
  }
  assert.equal(await select('$.store.bicycle[?(@.price == 19)].color'), '["red"]')
  assert.equal(await select('$..[?(@.isbn)].title'), '["Moby","Lord"]')
  assert.equal(await select("$.tags[?(@ > 'a')]"), '["b","c"]')
  assert.equal(await select("$.tags[? (@ > 'a')]"), '["b","c"]')
})

test('functions count, add up and choose', async () => {
  for (const [path, expected] of [
    ['$.tags.length()', '3'],
    ['$.store.size()', '2'],
    ['$.expensive.length()', 'null'],
    // At any depth below the root: the root's function, with what the path finds as its argument.
    ['$..book.length()', '4'],
    ['$..isbn.length()', '0'],
    ['$..tags.keys()', '["n","store","expensive","tags","big"]'],
    // Of several places: the function's result for each.
    ['$.store.book[0,2].length()', '[4,5]'],
    ['$.store.*.size()', '[4,2]'],
    ['$.store.book[?(@.nothing)].price.sum()', '[]'],
    ['$.sum($.store.book[0:2].price)', '21.939999999999998'],
    ['$.tags.append("d", 1)', '["a","b","c","d",1]'],
    ['$.n.sum()', '10.0'],
    ['$.n.avg()', '2.5'],
    ['$.n.max()', '4.0'],
    ['$.n.min()', '1.0'],
    ['$.n.stddev()', '1.118033988749895'],
    ['$..price.sum()', '49.93'],
    ['$.store.bicycle.keys()', '["color","price"]'],
    ['$.tags.first()', '"a"'],
    ['$.tags.last()', '"c"'],
    ['$.tags.index(1)', '"b"'],
    ["$.tags.concat('-', $.store.bicycle.color)", '"abc-red"'],
  ] as const) {
    assert.equal(await select(path, `{"n":[1,2.0,3,4,"x"],${STORE.slice(1)}`), expected, path)
  }
})

test('a standard deviation comes from the sum of squares: its last digits are the reference’s', async () => {
  assert.equal(await select('$.stddev($.n)', '{"n":[1,2,3]}'), '0.8164965809277263')
})

test('a result that is no number of JSON is a text, as the reference writes it', async () => {
  assert.equal(await select('$.n.stddev()', '{"n":[0.1,0.1,0.1]}'), '"NaN"')
  assert.equal(await select('$.n.sum()', '{"n":[1e308,1e308]}'), '"Infinity"')
})

test('what is not there is not found, also on the way', async () => {
  for (const path of [
    '$.nothing',
    '$.store.nothing.deeper',
    '$.store.nothing[*]',
    '$.expensive.price',
    '$.store[0]',
    '$.tags[3].deeper',
    '$.tags[3][0]',
    '$.expensive[?(@.a)]',
    '$.tags.sum()',
    '$.expensive.sum()',
    '$.store.book[*].price.sum()',
    '$..tags.first()',
    '$.constructor',
  ]) {
    await assert.rejects(select(path), (error) => isMillraceError(error) && error.code === 'json-path.NOT_FOUND', path)
  }
})

test('wrong paths are refused with the place', async () => {
  for (const path of [
    '$..[',
    '$.',
    '$..',
    '$.a.',
    '$[',
    '$[]',
    '$[a]',
    "$['a]",
    '$[1:2:x]',
    '$[:]',
    '$[?(@.a == )]',
    '$[?(5)]',
    '$[?(@.a === 1)',
    '$.a b',
    '$.a.evil()',
    '$[(@.length-1)]',
    '$[?(@.a =~ /(/)]',
    '$[?(@.a =~ /(?=a)/)]',
    `$[?(${'('.repeat(50)}@.a${')'.repeat(50)})]`,
    `$.${'a'.repeat(3000)}`,
  ]) {
    await assert.rejects(
      compileJsonPath(path),
      (error) => isMillraceError(error) && error.code === 'json-path.PATH_INVALID',
      path,
    )
  }
})

test('a path that visits a body over and over ends by its bound', async () => {
  const wide = parseJson(`[${Array(2000).fill('{"a":[1]}').join(',')}]`)
  const deep = parseJson('{"a":'.repeat(90) + '1' + '}'.repeat(90))
  for (const [path, document] of [
    ['$..*..*..*..*..*', deep],
    ['$..[?($..a)]', wide],
    ['$[?(@.a == $..a)]', wide],
  ] as const) {
    const compiled = await compileJsonPath(path)
    assert.throws(() => compiled(document), /too much of this message/, path)
  }
  const long: JsonValue = { list: Array<JsonValue>(100).fill('a'.repeat(10_000)) }
  const pattern = await compileJsonPath('$.list[?(@ =~ /(.{50}a*)*b/)]')
  assert.deepEqual(pattern(long), [])
})

test('each index and each name of a list is a visit', async () => {
  const nested = parseJson('[[[[1]]]]')
  const [some, many] = [`[${Array(120).fill('0').join(',')}]`, `[${Array(500).fill('0').join(',')}]`]
  const members = parseJson('{"a":{"a":{"a":{"a":1}}}}')
  const names = `[${Array(120).fill("'a'").join(',')}]`
  for (const [path, document] of [
    [`$${some}${some}${some}${many}`, nested],
    [`$${names}${names}${names}[*]`, members],
  ] as const) {
    const compiled = await compileJsonPath(path)
    assert.throws(() => compiled(document), /too much of this message/)
  }
})

test('each comparison of a filter counts, and long texts count by their length', async () => {
  const list = (from: number): JsonValue => Array.from({ length: 2000 }, (_, index) => from + index)
  const texts = (end: string): JsonValue => Array<string>(500).fill('a'.repeat(10_000) + end)
  const cases: [condition: string, document: JsonValue][] = [
    ['$.a noneof $.b', { i: [1], a: list(0), b: list(5000) }],
    ['$.a subsetof $.b', { i: [1], a: list(0), b: list(0) }],
    ['$.a anyof $.b', { i: [1], a: texts('b'), b: texts('c') }],
    ['$.a contains $.b', { i: [1], a: 'a'.repeat(200_000), b: `b${'a'.repeat(50_000)}` }],
    ['$.a[0] < $.b[0]', { i: Array<JsonValue>(60_000).fill(1), a: texts('b'), b: texts('c') }],
  ]
  for (const [condition, document] of cases) {
    const compiled = await compileJsonPath(`$.i[?(${condition})]`)
    assert.throws(() => compiled(document), /too much of this message/, condition)
  }
})

test('any text is read or refused, never anything else', () => {
  const piece = fc.constantFrom(
    '$',
    '.',
    '..',
    '[',
    ']',
    '*',
    '?(',
    ')',
    '@',
    'a',
    "'b'",
    '0',
    ':',
    ',',
    '==',
    '/x/',
    ' ',
  )
  return fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 14 }), async (pieces) => {
      const text = `$${pieces.join('')}`
      try {
        const path = await compileJsonPath(text)
        path({ a: [{ b: 1 }, 2], b: { a: null } })
      } catch (error) {
        assert.ok(isMillraceError(error), `${text}: ${String(error)}`)
      }
    }),
    { numRuns: 2000 },
  )
})
