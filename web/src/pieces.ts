// pieces.ts: an expression taken apart into the parts that have a value of their own: operands, brackets, calls and names. What cannot be read has none.

export interface Piece {
  text: string;
  start: number;
  end: number;
}

interface Token extends Piece {
  kind: 'name' | 'value' | 'sign';
}

const PATTERN = /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\d[\w.]*)|([A-Za-z_]\w*)|(=\?=|=!=|>>>|[<>=!]=|&&|\|\||<<|>>|[-+*\/%<>!~&|^?:.,(){}[\];=@])/gy;

function tokensOf(text: string): Token[] | null {
  const tokens: Token[] = [];
  PATTERN.lastIndex = 0;
  for (let at = 0; at < text.length; at = PATTERN.lastIndex) {
    const found = PATTERN.exec(text);
    if (!found) return null;
    if (found[1] ?? found[2] ?? found[3]) tokens.push({ kind: found[1] ? 'value' : found[2] ? 'name' : 'sign', text: found[0], start: at, end: PATTERN.lastIndex });
  }
  return tokens;
}

/* The stronger an operator binds, the later its row. */
const BINARY: string[][] = [['||'], ['&&'], ['|'], ['^'], ['&'], ['==', '!=', '=?=', '=!=', 'is', 'isnt'], ['<', '<=', '>', '>='], ['<<', '>>', '>>>'], ['+', '-'], ['*', '/', '%']];

class Reader {
  at = 0;
  readonly pieces: Piece[] = [];

  constructor(private readonly text: string, private readonly tokens: Token[]) {}

  private is(...words: string[]): boolean {
    const token = this.tokens[this.at];
    return !!token && token.kind !== 'value' && words.includes(token.text.toLowerCase());
  }

  private take(word: string): void {
    if (!this.is(word)) throw new Error(word);
    this.at++;
  }

  private keep(from: number): void {
    const start = this.tokens[from]!.start, end = this.tokens[this.at - 1]!.end;
    if (!this.pieces.some((piece) => piece.start === start && piece.end === end)) this.pieces.push({ text: this.text.slice(start, end), start, end });
  }

  whole(): void {
    const from = this.at;
    this.binary(0);
    if (!this.is('?')) return;
    this.at++;
    this.whole();
    this.take(':');
    this.whole();
    this.keep(from);
  }

  private binary(row: number): void {
    if (row === BINARY.length) return this.unary();
    const from = this.at;
    this.binary(row + 1);
    while (this.is(...BINARY[row]!)) {
      this.at++;
      this.binary(row + 1);
      this.keep(from);
    }
  }

  private unary(): void {
    const from = this.at;
    if (!this.is('-', '+', '!', '~')) return this.primary();
    this.at++;
    this.unary();
    this.keep(from);
  }

  private list(end: string): void {
    while (!this.is(end)) {
      this.whole();
      if (!this.is(end)) this.take(',');
    }
    this.take(end);
  }

  private primary(): void {
    const from = this.at, token = this.tokens[this.at++];
    if (!token) throw new Error('ends');
    if (token.kind === 'name') {
      const called = this.is('(');
      if (called) { this.at++; this.list(')'); }
      while (this.is('.')) { this.at++; if (this.tokens[this.at++]?.kind !== 'name') throw new Error('name'); }
      if (called || !/^(true|false|undefined|error)$/i.test(token.text)) this.keep(from);
    } else if (token.text === '(') {
      this.whole();
      this.take(')');
    } else if (token.text === '{') {
      this.list('}');
    } else if (token.kind !== 'value') {
      throw new Error(token.text);
    }
    while (this.is('[')) { this.at++; this.whole(); this.take(']'); this.keep(from); }
  }
}

/** In the order in which their values are known: the parts of a part before it. */
export function piecesOf(text: string): Piece[] {
  const tokens = tokensOf(text);
  if (!tokens?.length) return [];
  const reader = new Reader(text, tokens);
  try {
    reader.whole();
  } catch {
    return [];
  }
  return reader.at === tokens.length ? reader.pieces : [];
}
