import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Query, uuidOf } from './query.ts'

describe('a query', () => {
  test('gives booleans in any letter case, and refuses other words', () => {
    const query = new Query('a=True&b=FALSE&c=maybe&d=')
    assert.equal(query.boolean('a', false), true)
    assert.equal(query.boolean('b', true), false)
    assert.equal(query.boolean('d', true), true)
    assert.equal(query.boolean('absent', true), true)
    assert.throws(() => query.boolean('c', false), { status: 400, code: 'parameter.INVALID' })
    // A line break and blanks before the next parameter, as the reference's front end asks for widgets.
    assert.equal(new Query('a=true%20%20%0A%20&b=1').boolean('a', false), true)
    for (const yes of ['1', 'yes', 'On']) assert.equal(new Query(`a=${yes}`).boolean('a', false), true)
    for (const no of ['0', 'no', 'off']) assert.equal(new Query(`a=${no}`).boolean('a', true), false)
  })

  test('splits lists after decoding, and lets a repeated key hold a comma', () => {
    assert.deepEqual(new Query('keys=a%2Cb,c+d,,a').keys(), ['a', 'b', 'c d'])
    assert.deepEqual(new Query('keys=x&key=a%2Cb&key=c').keys(), ['a,b', 'c'])
    assert.deepEqual(new Query('keys=').keys(), [])
  })

  test('does not look at blanks around numbers, words and parts of lists, and takes repeated ids', () => {
    const query = new Query('n=%2012+&w=+one%20&l=a,+b%20&l=c')
    assert.equal(query.integer('n'), 12)
    assert.equal(query.oneOf('w', ['one', 'two']), 'one')
    assert.deepEqual(query.items('l'), ['a', 'b', 'c'])
    const [first, second, third] = ['a', 'b', 'c'].map((digit) => `13814000-1dd2-11b2-8080-80808080808${digit}`)
    const ids = new Query(`ids=${first},%20${second}&ids=${third}&ids=${first}`).uuids('ids')
    assert.deepEqual(ids, [first, second, third])
  })

  test('reads whole numbers of 64 bits only, and those beyond what is exact as the farthest that are', () => {
    assert.equal(new Query('ts=-5').integer('ts'), -5)
    assert.equal(new Query('ts=9223372036854775807').integer('ts'), Number.MAX_SAFE_INTEGER)
    assert.equal(new Query('ts=-9223372036854775808').integer('ts'), Number.MIN_SAFE_INTEGER)
    for (const text of ['abc', '1.5', '1e3', '0x10', '99999999999999999999', ' 1 x']) {
      assert.throws(() => new Query(`ts=${encodeURIComponent(text)}`).integer('ts'), { status: 400 }, text)
    }
  })

  test('issue-8 2.12: of a page needs its size and number, and says what is wrong with them', () => {
    assert.deepEqual(new Query('pageSize=2&page=1&textSearch=x&sortProperty=name&sortOrder=desc').page(), {
      pageSize: 2,
      page: 1,
      textSearch: 'x',
      sortProperty: 'name',
      sortOrder: 'DESC',
    })
    const refusals = {
      'page=0': "Required request parameter 'pageSize' is not present",
      'pageSize=-1&page=0': "Incorrect page link page size '-1'. Page size must be greater than zero.",
      'pageSize=1&page=-1': "Incorrect page link page '-1'. Page must be positive integer.",
      'pageSize=10001&page=1':
        "Incorrect page link page size '10001'. Page size must be at most 10000: ask for several pages.",
      'pageSize=2147483648&page=0':
        "Incorrect page link page size '2147483648'. Page size must be at most 10000: ask for several pages.",
      'pageSize=10&page=4611686018427387':
        "Incorrect page link page '4611686018427387'. There is no page so far behind.",
      'pageSize=1&page=0&sortProperty=name&sortOrder=up':
        "Unsupported sort order 'up'! Only 'ASC' or 'DESC' types are allowed.",
      'pageSize=1&page=0&sortProperty=name;drop': 'Invalid sort property',
    }
    for (const [text, message] of Object.entries(refusals)) {
      assert.throws(() => new Query(text).page(), { status: 400, message })
    }
    assert.ok(new Query('pageSize=1&page=0&sortOrder=up').page(), 'an order without a property is not looked at')
  })

  test('of a first page larger than a page may be is answered where all fits', () => {
    const query = new Query('pageSize=2147483647&page=0')
    assert.deepEqual(query.page(), { pageSize: 10_000, page: 0, textSearch: undefined })
    const page = { data: [], totalPages: 1, totalElements: 10_000 }
    query.requireWhole({ ...page, hasNext: false })
    assert.throws(() => query.requireWhole({ ...page, hasNext: true }), {
      status: 400,
      message: "Incorrect page link page size '2147483647'. Page size must be at most 10000: ask for several pages.",
    })
    const small = new Query('pageSize=1&page=0')
    small.page()
    small.requireWhole({ ...page, hasNext: true })
  })

  test('gives UUIDs in lower case', () => {
    assert.equal(uuidOf('id', '784F394C-42B6-435A-983C-B7BEFF2784F9'), '784f394c-42b6-435a-983c-b7beff2784f9')
    assert.throws(() => uuidOf('id', 'not-a-uuid'), { message: 'Invalid UUID string: not-a-uuid' })
    assert.throws(() => uuidOf('deviceId', ''), { message: "Parameter 'deviceId' can't be empty!" })
  })
})
