import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attachment, formOf } from './form.ts'
import { MAX_HEAD_BYTES, MAX_PARTS } from './multipart.ts'

const TYPE = 'multipart/form-data; boundary=XX'
const FILE = 'Content-Disposition: form-data; name="file"; filename="a.gif"\r\nContent-Type: image/gif\r\n\r\nGIF'
const TITLE = 'Content-Disposition: form-data; name="title"\r\n\r\nTü'

const bodyOf = (...parts: string[]): string => `${parts.map((part) => `--XX\r\n${part}\r\n`).join('')}--XX--\r\n`
const read = (body: string | Buffer, type = TYPE): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(formOf(type, Buffer.from(body))).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : { ...value, bytes: String(value.bytes) },
    ]),
  )
const GIF = { fileName: 'a.gif', contentType: 'image/gif', bytes: 'GIF' }
const fileNamed = (disposition: string): unknown => {
  const part = `Content-Disposition: form-data; ${disposition}\r\n\r\nGIF`
  const { file } = formOf(TYPE, Buffer.from(bodyOf(part)))
  return typeof file === 'object' ? file.fileName : file
}

test('a form is read however its boundary is announced', () => {
  for (const type of [
    TYPE,
    'multipart/form-data; boundary="XX"',
    'Multipart/Form-Data; charset=UTF-8; Boundary=XX',
    'multipart/form-data;boundary=XX; charset=UTF-8',
  ])
    assert.deepEqual(read(bodyOf(FILE, TITLE), type), { file: GIF, title: 'Tü' }, type)
})

test('text before and after the parts is left out, as are spaces after a boundary and a missing last line break', () => {
  const body = bodyOf(FILE, TITLE)
  for (const written of [
    `This is a message\r\n${body}`,
    `\r\n${body}`,
    `${body}bye\r\n--XX\r\n`,
    body.slice(0, -2),
    body.replaceAll('--XX\r\n', '--XX \t\r\n'),
  ])
    assert.deepEqual(read(written), { file: GIF, title: 'Tü' }, written)
})

test('a longer line that begins like the boundary is a part of the file', () => {
  const inside = FILE.replace('GIF', 'GIF\r\n--XXY\r\n--X\r\n\r\n')
  assert.deepEqual(read(bodyOf(inside, TITLE)), {
    file: { ...GIF, bytes: 'GIF\r\n--XXY\r\n--X\r\n\r\n' },
    title: 'Tü',
  })
  assert.deepEqual(read(`--XXY\r\n${bodyOf(TITLE)}`), { title: 'Tü' })
})

test('a file has the name that each client gives it', () => {
  for (const [disposition, name] of [
    ['name=file; filename=u.gif', 'u.gif'],
    ["name=file; filename=u.gif; filename*=utf-8''%C3%BC%20%26.gif", 'ü &.gif'],
    ['name=file; filename="=?utf-8?B?w7wuZ2lm?="', 'ü.gif'],
    ['name="file"; filename="=?UTF-8?Q?=C3=BC_100%.gif?="', 'ü 100%.gif'],
    ['filename="u.gif"; name="file"', 'u.gif'],
    ['name="file";filename="a\\"b;c.gif"', 'a"b;c.gif'],
    ['name="file"; filename="a%22b.gif"', 'a"b.gif'],
    ['name="file"; filename="C:\\dir\\b.gif"', 'C:\\dir\\b.gif'],
    ['name="file"; filename="ü.gif"', 'ü.gif'],
    ['name="file"; filename=""', ''],
    ['name="file"', 'GIF'],
  ])
    assert.equal(fileNamed(disposition ?? ''), name, disposition)
})

test('a text is read in the alphabet that it names', () => {
  const part = 'content-disposition:form-data;name=title\r\nContent-Type: text/plain; charset=ISO-8859-1\r\n\r\nT\xfc'
  assert.deepEqual(read(Buffer.from(bodyOf(part), 'latin1')), { title: 'Tü' })
  assert.deepEqual(read(bodyOf(part.replace('ISO-8859-1', 'nobody-knows').replace('\xfc', 'ü'))), { title: 'Tü' })
})

test('the first of two parts with one name counts, a part without a name does not, and no name reaches the prototype', () => {
  const other = FILE.replace('a.gif', 'b.gif')
  const nameless = 'Content-Disposition: form-data\r\n\r\nx'
  assert.deepEqual(read(bodyOf(nameless, FILE, other, '', 'x')), { file: GIF })
  const members = formOf(TYPE, Buffer.from(bodyOf(FILE.replace('"file"', '"__proto__"'))))
  assert.equal(Object.getPrototypeOf(members), Object.prototype)
})

test('what was cut short, has too many parts or is no form is refused', () => {
  const whole = bodyOf(FILE, TITLE)
  const many = bodyOf(...Array.from({ length: MAX_PARTS + 1 }, (_, index) => TITLE.replace('title', String(index))))
  const cases = [
    ...[whole.slice(0, -6), whole.slice(0, 20), '', many, '{}'].map((body) => [body, TYPE]),
    ...['multipart/form-data', 'multipart/form-data; boundary=', 'application/json; boundary=XX', '', `${TYPE}Y`].map(
      (type) => [whole, type],
    ),
  ]
  for (const [body = '', type = ''] of cases)
    assert.throws(
      () => formOf(type, Buffer.from(body)),
      /multipart\/form-data is expected/,
      `${type}: ${body.slice(0, 80)}`,
    )
})

test('a part may have as long a head as clients write, and none that takes a body as large as memory', () => {
  const part = (lines: number): string => `${'a: b\r\n'.repeat(lines)}${TITLE}`
  assert.deepEqual(read(bodyOf(part(2_000))), { title: 'Tü' })
  for (const lines of [MAX_HEAD_BYTES / 6, 1_000_000])
    assert.throws(() => formOf(TYPE, Buffer.from(bodyOf(part(lines)))), /multipart\/form-data is expected/, `${lines}`)
})

test('a downloaded file keeps a name that a header can not carry', () => {
  assert.deepEqual(attachment('fw.bin'), {
    'Content-Disposition': 'attachment;filename=fw.bin',
    'x-filename': 'fw.bin',
  })
  assert.deepEqual(attachment("ü (1)'\ud800.bin"), {
    'Content-Disposition': "attachment;filename=_ (1)'_.bin;filename*=UTF-8''%C3%BC%20%281%29%27%EF%BF%BD.bin",
    'x-filename': "_ (1)'_.bin",
  })
})
