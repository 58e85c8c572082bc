/** A part's figures by their names here: complete, since a figure without a name does not compile. */
export type Names<Figures> = Readonly<Record<keyof Figures, string>>

export function named<Figure extends string>(
  figures: Readonly<Record<NoInfer<Figure>, number>>,
  names: Readonly<Record<Figure, string>>,
): Record<string, number> {
  const shown: Record<string, number> = {}
  for (const figure of Object.keys(names) as Figure[]) shown[names[figure]] = figures[figure]
  return shown
}
