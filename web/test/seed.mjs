// seed.mjs: fills a pool with ads to look at: machines, licences, jobs that wait for all sorts of reasons, gangs, and values that look like HTML.

export const evil = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';

const machines = (count) =>
  Array.from({ length: count }, (_, i) => ({
    id: `m${i}`,
    ad: `[ Name = "machine-${i}"; Type = "Machine"; Arch = "${i % 3 ? 'X86_64' : 'AARCH64'}"; OpSys = "LINUX"; Cpus = ${1 << (i % 5)};
          RamSize = ${(i % 7) * 8000 + 8000}; Lifetime = 3600; Constraint = other.ImageSize <= RamSize && other.Owner != "rival" ]`,
  }));

const others = [
  { id: 'lic1', ad: '[ Name = "lic1"; Type = "License"; App = "render"; Executes = false; Lifetime = 3600; Constraint = other.HostName == "machine-3" ]' },
  { id: 'lic2', ad: '[ Name = "lic2"; Type = "License"; App = "solver"; Executes = false; Lifetime = 3600 ]' },
  { id: 'disk1', ad: '[ Name = "disk1"; Type = "Storage"; Space = 900G; Lifetime = 3600 ]' },
  { id: 'evil', ad: `[ Name = ${JSON.stringify(evil)}; Type = "Machine"; Lifetime = 3600; Constraint = false; Note = ${JSON.stringify(evil)} ]` },
];

const jobs = [
  { id: 'big', ad: '[ Name = "big"; Type = "Job"; ImageSize = 900; Lifetime = 3600;\n  Constraint = other.Type == "Machine" && other.Arch == "X86_64" && other.RamSize >= 64000 ]' },
  { id: 'misspelt', ad: '[ Name = "misspelt"; Type = "Job"; ImageSize = 900; Lifetime = 3600;\n  Constraint = other.Type == "Machine" && other.RmaSize >= 8000 ]' },
  { id: 'never', ad: '[ Name = "never"; Type = "Job"; ImageSize = 900; Lifetime = 3600;\n  Constraint = other.RamSize < 1000 && other.RamSize > 1200 ]' },
  { id: 'fat', ad: '[ Name = "fat"; Type = "Job"; ImageSize = 500000; Lifetime = 3600;\n  Constraint = other.Type == "Machine" && other.Arch == "X86_64" && other.RamSize > 0 ]' },
  { id: 'sweep', ad: '[ Name = "sweep"; Type = "Job"; ImageSize = 900; Lifetime = 3600; Count = 2000;\n  Constraint = other.Type == "Cluster" ]' },
  { id: 'fine', ad: '[ Name = "fine"; Type = "Job"; ImageSize = 900; Lifetime = 3600; Count = 2;\n  Constraint = other.Type == "Machine" && other.Arch == "X86_64"; Rank = other.RamSize ]' },
  {
    id: 'gang',
    ad: `[ Name = "gang"; Type = "Job"; Lifetime = 3600;
  Ports = {
    [ Label = cpu; ImageSize = 900; Constraint = cpu.Type == "Machine" && cpu.Arch == "X86_64" && cpu.RamSize > 0; Rank = cpu.RamSize ],
    [ Label = licence; HostName = cpu.Name; Constraint = licence.Type == "License" && licence.App == "matlab" ],
    [ Label = scratch; Essential = false; Constraint = scratch.Type == "Storage" ]
  } ]`,
  },
  {
    id: 'pair',
    ad: `[ Name = "pair"; Type = "Job"; Lifetime = 3600;
  Ports = {
    [ Label = cpu; ImageSize = 900; Constraint = cpu.Type == "Machine" && cpu.Cpus >= 16 && cpu.Arch == "AARCH64" ],
    [ Label = licence; HostName = cpu.Name; Constraint = licence.Type == "License" && licence.App == "render" ]
  } ]`,
  },
];

export async function put(base, token, id, ad, kind) {
  const answer = await fetch(`${base}/v1/ads/${id}${kind ? `?kind=${kind}` : ''}`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/classad', 'Berth-Agent': 'seed' },
    body: ad,
  });
  if (!answer.ok) throw new Error(`${id}: ${answer.status} ${await answer.text()}`);
}

export async function seed(base, token, count = 120) {
  for (const { id, ad } of [...machines(count), ...others]) await put(base, token, id, ad);
  for (const { id, ad } of jobs) await put(base, token, id, ad);
}

if (process.argv[1]?.endsWith('seed.mjs')) await seed(process.argv[2], process.argv[3], Number(process.argv[4] ?? 120));
