/** Rounds half up, away from zero, by the digits that the number is written with: 1.005 is 1.01, which a product with 100 would not say. */
export function halfUp(value: number, digits: number): number {
  const [mantissa = '', exponent = '0'] = String(Math.abs(value)).split('e')
  const fraction = mantissa.split('.')[1]?.length ?? 0
  // Shifted to a whole number it would lose its last digits.
  if (fraction - Number(exponent) <= digits) return value
  const shifted = Math.round(Number(`${mantissa}e${Number(exponent) + digits}`))
  return Math.sign(value) * Number(`${shifted}e${-digits}`)
}
