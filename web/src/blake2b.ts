// blake2b.ts: the hash that names a file in a customer's spool: BLAKE2b, 32 bytes (RFC 7693). A number of 64 bits is two words, the low one first.

const START = new Uint32Array([
  0xf3bcc908, 0x6a09e667, 0x84caa73b, 0xbb67ae85, 0xfe94f82b, 0x3c6ef372, 0x5f1d36f1, 0xa54ff53a,
  0xade682d1, 0x510e527f, 0x2b3e6c1f, 0x9b05688c, 0xfb41bd6b, 0x1f83d9ab, 0x137e2179, 0x5be0cd19,
]);
const ORDERS = [
  '0123456789abcdef', 'ea489fd61c02b753', 'b8c052fdae367194', '7931dcbe265a40f8', '905724afe1bc683d', '2c6a0b834d75fe19',
  'c51fed4a0763928b', 'db7ec13950f4862a', '6fe9b308c2d714a5', 'a2847615fb9e3cd0', '0123456789abcdef', 'ea489fd61c02b753',
].map((row) => Uint8Array.from(row, (digit) => parseInt(digit, 16) * 2));
const BLOCK = 128, BYTES = 32;

export class Blake2b {
  private readonly state = START.slice();
  private readonly work = new Uint32Array(32);
  private readonly words = new Uint32Array(32);
  private readonly block = new Uint8Array(BLOCK);
  private readonly view = new DataView(this.block.buffer);
  private held = 0; // bytes in the block
  private total = 0; // bytes before it

  constructor() {
    this.state[0]! ^= 0x01010000 ^ BYTES;
  }

  add(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      if (this.held === BLOCK) {
        this.total += BLOCK;
        this.compress(false);
        this.held = 0;
      }
      const more = Math.min(BLOCK - this.held, bytes.length - at);
      this.block.set(bytes.subarray(at, at + more), this.held);
      this.held += more;
      at += more;
    }
  }

  /** In hexadecimal; nothing can be added after it. */
  end(): string {
    this.total += this.held;
    this.block.fill(0, this.held);
    this.compress(true);
    let digits = '';
    for (let i = 0; i < BYTES; i++) digits += ((this.state[i >> 2]! >>> (8 * (i & 3))) & 255).toString(16).padStart(2, '0');
    return digits;
  }

  private compress(last: boolean): void {
    const { state, work, words } = this;
    work.set(state);
    work.set(START, 16);
    work[24]! ^= this.total >>> 0;
    work[25]! ^= Math.floor(this.total / 0x100000000);
    if (last) {
      work[28] = ~work[28]!;
      work[29] = ~work[29]!;
    }
    for (let i = 0; i < 32; i++) words[i] = this.view.getUint32(4 * i, true);
    for (const order of ORDERS) {
      this.mix(0, 8, 16, 24, order[0]!, order[1]!);
      this.mix(2, 10, 18, 26, order[2]!, order[3]!);
      this.mix(4, 12, 20, 28, order[4]!, order[5]!);
      this.mix(6, 14, 22, 30, order[6]!, order[7]!);
      this.mix(0, 10, 20, 30, order[8]!, order[9]!);
      this.mix(2, 12, 22, 24, order[10]!, order[11]!);
      this.mix(4, 14, 16, 26, order[12]!, order[13]!);
      this.mix(6, 8, 18, 28, order[14]!, order[15]!);
    }
    for (let i = 0; i < 16; i++) state[i]! ^= work[i]! ^ work[i + 16]!;
  }

  private mix(a: number, b: number, c: number, d: number, x: number, y: number): void {
    const v = this.work, m = this.words;
    let al = v[a]!, ah = v[a + 1]!, bl = v[b]!, bh = v[b + 1]!, cl = v[c]!, ch = v[c + 1]!, dl = v[d]!, dh = v[d + 1]!, low: number, high: number;
    low = al + bl + m[x]!;
    ah = (ah + bh + m[x + 1]! + ((low / 0x100000000) | 0)) >>> 0;
    al = low >>> 0;
    low = (dh ^ ah) >>> 0;
    dh = (dl ^ al) >>> 0;
    dl = low;
    low = cl + dl;
    ch = (ch + dh + (low > 0xffffffff ? 1 : 0)) >>> 0;
    cl = low >>> 0;
    low = bl ^ cl;
    high = bh ^ ch;
    bl = ((low >>> 24) | (high << 8)) >>> 0;
    bh = ((high >>> 24) | (low << 8)) >>> 0;
    low = al + bl + m[y]!;
    ah = (ah + bh + m[y + 1]! + ((low / 0x100000000) | 0)) >>> 0;
    al = low >>> 0;
    low = dl ^ al;
    high = dh ^ ah;
    dl = ((low >>> 16) | (high << 16)) >>> 0;
    dh = ((high >>> 16) | (low << 16)) >>> 0;
    low = cl + dl;
    ch = (ch + dh + (low > 0xffffffff ? 1 : 0)) >>> 0;
    cl = low >>> 0;
    low = bl ^ cl;
    high = bh ^ ch;
    v[a] = al;
    v[a + 1] = ah;
    v[b] = (low << 1) | (high >>> 31);
    v[b + 1] = (high << 1) | (low >>> 31);
    v[c] = cl;
    v[c + 1] = ch;
    v[d] = dl;
    v[d + 1] = dh;
  }
}
