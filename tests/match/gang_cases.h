/* gang_cases.h: small pools whose largest gang was worked out by hand: what the words of the definition mean.
 *
 * Ads are numbered, requests first. A gang is written as each member in the order of choice: its ad, whose port it docks at (parent
 * number, then port) and the port it docks by. */
#ifndef BERTH_TESTS_GANG_CASES_H
#define BERTH_TESTS_GANG_CASES_H

struct gang_case {
    const char *sentence;
    const char *pool; /* a line an ad, as twin_gang shows pools */
    const char *gang; /* of the first root; "" for none */
};

static const struct gang_case gang_cases[] = {
    {"nodes of one host are offered as a machine by the last of three ports (figure 11)",
     "request [ Ports = { [ Label = big; Type = \"job\"; Reqs = 150; Constraint = big.Type == \"multi\" && big.Memory > 100 ] } ]\n"
     "offer [ Ports = { [ Label = a; Type = \"ask\"; Constraint = a.Type == \"node\" ],"
     " [ Label = b; Type = \"ask\"; Constraint = b.Type == \"node\" && a.Host == b.Host ],"
     " [ Label = req; Type = \"multi\"; Memory = a.Memory + b.Memory; Constraint = req.Reqs < Memory - 15 ] } ]\n"
     "offer [ Type = \"node\"; Host = \"x\"; Memory = 99; Constraint = other.Type == \"ask\" ]\n"
     "offer [ Type = \"node\"; Host = \"y\"; Memory = 80; Constraint = other.Type == \"ask\" ]\n"
     "offer [ Type = \"node\"; Host = \"y\"; Memory = 60; Constraint = other.Type == \"ask\" ]\n"
     "offer [ Type = \"node\"; Host = \"y\"; Memory = 90; Ports = { [ Label = job; Constraint = job.Type == \"ask\" ] } ]\n",
     "0; 1 at 0.0 by 2; 3 at 1.0 by 0; 5 at 1.1 by 0;"},
    {"two hosts of one subnet, though the best first host has no companion (figure 8)",
     "request [ Ports = { [ Label = h1; Rank = h1.Mips ], [ Label = h2; Constraint = h1.Net == h2.Net; Rank = h2.Flops ] } ]\n"
     "offer [ Net = 1; Mips = 9; Flops = 9 ]\n"
     "offer [ Net = 2; Mips = 5; Flops = 7 ]\n"
     "offer [ Net = 3; Mips = 6; Flops = 1 ]\n"
     "offer [ Net = 2; Mips = 4; Flops = 5 ]\n"
     "offer [ Net = 3; Mips = 2; Flops = 2 ]\n",
     "0; 3 at 0.0 by 0; 5 at 0.1 by 0;"},
    {"a licence sees the machine through the request's port (figure 32)",
     "request [ Ports = { [ Label = cpu; Constraint = cpu.Arch == \"INTEL\" ],"
     " [ Label = lic; HostId = cpu.Key; Constraint = lic.App == \"app1\" ] } ]\n"
     "offer [ Key = 40; Arch = \"INTEL\"; Ports = { [ Label = job ] } ]\n"
     "offer [ Key = 90; Arch = \"INTEL\"; Ports = { [ Label = job ] } ]\n"
     "offer [ App = \"app1\"; Ports = { [ Label = job; Constraint = job.HostId >= 50 && job.HostId < 100 ] } ]\n",
     "0; 2 at 0.0 by 0; 3 at 0.1 by 0;"},
    {"a label of a later port is undefined, and is not looked for in the counterpart",
     "request [ Ports = { [ Label = cpu; Constraint = lic is undefined ], [ Label = lic ] } ]\n"
     "offer [ lic = 3 ]\n"
     "offer [ ]\n",
     "0; 1 at 0.0 by 0; 2 at 0.1 by 0;"},
    {"nor is that of a port which stays empty",
     "request [ Ports = { [ Label = gpu; Essential = false; Constraint = gpu.Gpu ], [ Label = cpu; Constraint = gpu is undefined ] } ]\n"
     "offer [ gpu = 3 ]\n",
     "0; 1 at 0.1 by 0;"},
    {"an attribute of the ad comes before a label of its name",
     "request [ cpu = [ Key = 7 ]; Ports = { [ Label = cpu; Constraint = cpu.Key == 7 && other.Key == 1 ] } ]\n"
     "offer [ Key = 7 ]\n"
     "offer [ Key = 1 ]\n",
     "0; 2 at 0.0 by 0;"},
    {"a plain name that the ad does not have is the counterpart's: its port's, or else its ad's",
     "request [ Ports = { [ Label = cpu; Constraint = Memory == 5 && Disk == 6 ] } ]\n"
     "offer [ Memory = 5; Disk = 5; Ports = { [ Label = job; Memory = 6 ] } ]\n"
     "offer [ Memory = 4; Disk = 6; Ports = { [ Label = job; Memory = 5 ] } ]\n",
     "0; 2 at 0.0 by 0;"},
    {"a port that can be filled is, however little that is liked",
     "request [ Ports = { [ Label = gpu; Essential = false; Rank = -5 ], [ Label = cpu ] } ]\n"
     "offer [ Name = \"one\" ]\n"
     "offer [ Name = \"two\" ]\n",
     "0; 1 at 0.0 by 0; 2 at 0.1 by 0;"},
    {"a port may stay empty so that others are filled",
     "request [ Ports = { [ Label = gpu; Essential = false ], [ Label = cpu ] } ]\n"
     "offer [ Name = \"one\" ]\n",
     "0; 1 at 0.1 by 0;"},
    {"of a group that chooses one, the first that can be filled is",
     "request [ Ports = { [ Choose = 1; Ports = { [ Label = a; Constraint = a.X == 1 ], [ Label = b; Constraint = b.X == 2 ],"
     " [ Label = c; Constraint = c.X == 3 ] } ] } ]\n"
     "offer [ X = 3 ]\n"
     "offer [ X = 2 ]\n",
     "0; 2 at 0.1 by 0;"},
    {"a group inside a group is filled wholly or not at all",
     "request [ Ports = { [ Choose = 1; Ports = { [ Choose = 2; Ports = { [ Label = a; Constraint = a.X == 1 ],"
     " [ Label = b; Constraint = b.X == 2 ] } ], [ Label = c; Constraint = c.X == 1 ] } ] } ]\n"
     "offer [ X = 1 ]\n",
     "0; 1 at 0.2 by 0;"},
    {"an ad that says Choose is a group itself: as many of its ports are filled, those further left first",
     "request [ Choose = { 1, 2 }; Ports = { [ Label = a; Constraint = a.X == 9 ], [ Label = b; Constraint = b.X == 2 ],"
     " [ Label = c; Constraint = c.X == 3 ], [ Label = d; Constraint = d.X == 3 ] } ]\n"
     "offer [ X = 3 ]\n"
     "offer [ X = 2 ]\n"
     "offer [ X = 3 ]\n",
     "0; 2 at 0.1 by 0; 1 at 0.2 by 0;"},
    {"of a service that says Choose, the port by which it is docked counts",
     "request [ Ports = { [ Label = s; Constraint = s.Type == \"S\" ] } ]\n"
     "offer [ Choose = 2; Ports = { [ Label = up; Type = \"S\" ], [ Label = m; Constraint = m.X == 9 ],"
     " [ Label = n; Constraint = n.X == 3 ], [ Label = o; Constraint = o.X == 3 ] } ]\n"
     "offer [ X = 3 ]\n"
     "offer [ X = 3 ]\n",
     "0; 1 at 0.0 by 0; 2 at 1.2 by 0;"},
    {"with too few of them it gets no gang",
     "request [ Choose = { 2, 3 }; Ports = { [ Label = a; Constraint = a.X == 9 ], [ Label = b; Constraint = b.X == 2 ],"
     " [ Label = c; Constraint = c.X == 3 ] } ]\n"
     "offer [ X = 3 ]\n"
     "offer [ X = 3 ]\n",
     ""},
    {"least and most hold at each level: two of three, of which one is one or two of three, and that one of two",
     "request [ Choose = 2; Ports = { [ Label = a; Constraint = a.X == 9 ], [ Choose = { 1, 2 }; Ports = { [ Label = b; Constraint = b.X == 2 ],"
     " [ Choose = 1; Ports = { [ Label = c; Constraint = c.X == 3 ], [ Label = d; Constraint = d.X == 4 ] } ],"
     " [ Label = e; Constraint = e.X == 5 ] } ], [ Label = f; Constraint = f.X == 6 ] } ]\n"
     "offer [ X = 4 ]\n"
     "offer [ X = 3 ]\n"
     "offer [ X = 2 ]\n"
     "offer [ X = 5 ]\n"
     "offer [ X = 6 ]\n",
     "0; 3 at 0.1 by 0; 2 at 0.2 by 0; 5 at 0.5 by 0;"},
    {"a set takes the best first, and as many as it may",
     "request [ Ports = { [ Label = node; Count = { 2, 3 }; Constraint = node.X > 1; Rank = node.X ] } ]\n"
     "offer [ X = 2 ]\n"
     "offer [ X = 1 ]\n"
     "offer [ X = 5 ]\n"
     "offer [ X = 4 ]\n"
     "offer [ X = 3 ]\n",
     "0; 3 at 0.0 by 0; 4 at 0.0 by 0; 5 at 0.0 by 0;"},
    {"a set with too few is no gang",
     "request [ Ports = { [ Label = node; Count = { 2, 3 }; Constraint = node.X > 1 ] } ]\n"
     "offer [ X = 2 ]\n"
     "offer [ X = 1 ]\n",
     ""},
    {"an offer docks once",
     "request [ Ports = { [ Label = a ], [ Label = b ] } ]\n"
     "offer [ X = 2 ]\n",
     ""},
    {"but again where a port shares",
     "request [ Ports = { [ Label = a ], [ Label = b; Share = true; Rank = b.X ] } ]\n"
     "offer [ X = 2 ]\n"
     "offer [ X = 1 ]\n",
     "0; 1 at 0.0 by 0; 1 at 0.1 by 0;"},
    {"what a member has gathered counts in its rank: the largest vector is that of the complete gang",
     "request [ Ports = { [ Label = svc; Type = \"job\"; Constraint = svc.Type == \"svc\"; Rank = svc.Power ] } ]\n"
     "offer [ Ports = { [ Label = cpu; Constraint = cpu.Mips > 0; Rank = -cpu.Mips ], [ Label = req; Type = \"svc\"; Power = cpu.Mips;"
     " Constraint = req.Type == \"job\" ] } ]\n"
     "offer [ Mips = 1 ]\n"
     "offer [ Mips = 8 ]\n"
     "offer [ Mips = 5 ]\n",
     "0; 1 at 0.0 by 1; 3 at 1.0 by 0;"},
    {"of equal candidates the first, by the first of its ports",
     "request [ Ports = { [ Label = a ] } ]\n"
     "offer [ Ports = { [ Label = x; Constraint = false ], [ Label = y; Essential = false ], [ Label = z; Essential = false ] } ]\n"
     "offer [ Ports = { [ Label = y; Essential = false ], [ Label = z; Essential = false ] } ]\n"
     "offer [ Ports = { [ Label = y; Essential = false ], [ Label = z; Essential = false ] } ]\n",
     "0; 2 at 0.0 by 0; 3 at 1.1 by 0;"},
    {"a gang with an undefined component of the policy's vector is discarded, but an absent rank is 0",
     "policy [ DockingVector = { self.Rank, label.Memory } ]\n"
     "request [ Ports = { [ Label = cpu ] } ]\n"
     "offer [ Name = \"none\" ]\n"
     "offer [ Memory = 3 ]\n",
     "0; 2 at 0.0 by 0;"},
    {"a rank that the port does not have is that of its ad",
     "request [ Rank = other.Speed; Ports = { [ Label = cpu ] } ]\n"
     "offer [ Speed = 3 ]\n"
     "offer [ Speed = 4 ]\n",
     "0; 2 at 0.0 by 0;"},
    {"services need services: three ads below one another",
     "request [ Ports = { [ Label = t; Type = \"job\"; Constraint = t.Type == \"T\" ] } ]\n"
     "offer [ Ports = { [ Label = s; Type = \"ask\"; Need = 3; Constraint = s.Type == \"S\" ], [ Label = up; Type = \"T\"; Constraint = up.Type == \"job\" ] } ]\n"
     "offer [ Ports = { [ Label = up; Type = \"S\"; Constraint = up.Type == \"ask\" ], [ Label = m; Constraint = m.Size >= up.Need ] } ]\n"
     "offer [ Size = 2 ]\n"
     "offer [ Size = 3 ]\n",
     "0; 1 at 0.0 by 1; 2 at 1.0 by 0; 4 at 2.1 by 0;"},
};

#endif
