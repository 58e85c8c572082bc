/** The reader of XML. Loaded with the first document: most servers never have one, and it takes memory. */
import type { X2jOptions } from 'fast-xml-parser'

/** Throws an error that says what is wrong where the text is no whole document. */
export async function readXml(text: string, options: X2jOptions): Promise<unknown> {
  const { XMLParser, XMLValidator } = await import('fast-xml-parser')
  // The parser takes half a document for a whole one.
  const validity = XMLValidator.validate(text)
  if (validity !== true) throw new Error(validity.err.msg)
  return new XMLParser(options).parse(text)
}
