/** Comma-separated text as RFC 4180 has it, with any delimiter of one character. */

export interface CsvLine {
  /** Of the text, from 1: a quoted cell may go over several. */
  readonly number: number
  readonly cells: readonly string[]
}

/** Lines without any text are left out. */
export function* csvLines(text: string, delimiter: string): Generator<CsvLine> {
  let place = text.startsWith('\uFEFF') ? 1 : 0
  let number = 1
  while (place < text.length) {
    const start = number
    const cells: string[] = []
    for (;;) {
      const cell = cellAt(text, place, delimiter)
      cells.push(cell.text)
      number += cell.breaks
      place = cell.end
      if (text[place] !== delimiter) break
      place++
    }
    if (text[place] === '\r') place++
    if (text[place] === '\n') place++
    number++
    if (cells.some((cell) => cell !== '')) yield { number: start, cells }
  }
}

interface Cell {
  readonly text: string
  /** The place after it: a delimiter, the end of a line or of the text. */
  readonly end: number
  readonly breaks: number
}

function cellAt(text: string, start: number, delimiter: string): Cell {
  if (text[start] !== '"') {
    const end = endOfPlain(text, start, delimiter)
    return { text: text.slice(start, end).trim(), end, breaks: 0 }
  }
  let value = ''
  let place = start + 1
  for (;;) {
    const quote = text.indexOf('"', place)
    if (quote < 0) {
      value += text.slice(place)
      return { text: value, end: text.length, breaks: breaksIn(value) }
    }
    value += text.slice(place, quote)
    place = quote + 1
    if (text[place] !== '"') return { text: value, end: endOfPlain(text, place, delimiter), breaks: breaksIn(value) }
    value += '"'
    place++
  }
}

function endOfPlain(text: string, start: number, delimiter: string): number {
  let end = start
  while (end < text.length && text[end] !== delimiter && text[end] !== '\n' && text[end] !== '\r') end++
  return end
}

function breaksIn(text: string): number {
  return text.split('\n').length - 1
}
