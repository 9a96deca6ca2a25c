"""Golden values for the numerical building blocks, computed in float64 with PyTorch autograd.

Usage: python3 tools/make_reference.py [--seed 7] [--out tests/data/reference.json]
Matrices are lists of rows; rows are samples (n x d). Gradients are d(loss)/d(input).
Definitions are those of the headers that the cases test; each case stores its inputs, its settings, and the expected values.
"""
import argparse, json
import torch

torch.set_default_dtype(torch.float64)
ap = argparse.ArgumentParser()
ap.add_argument("--seed", type=int, default=7)
ap.add_argument("--out", default="tests/data/reference.json")
args = ap.parse_args()
g = torch.Generator().manual_seed(args.seed)
rand = lambda *s: torch.randn(*s, generator=g)
L = lambda t: t.detach().tolist()
cases = {}


def inv_sqrt(S):
    d, V = torch.linalg.eigh(S)
    return (V * d.rsqrt()) @ V.T


def cov(A, B, r=0.0):
    n = len(A)
    A, B = A - A.mean(0), B - B.mean(0)
    C = A.T @ B / (n - 1)
    return C + r * torch.eye(C.shape[0]) if A.shape[1] == B.shape[1] and r else C


def correlated(n, d1, d2, k):
    z = rand(n, k)
    return z @ rand(k, d1) + 0.5 * rand(n, d1), z @ rand(k, d2) + 0.5 * rand(n, d2)


# 1. linear CCA / RCCA -------------------------------------------------------------------------
X1, X2 = correlated(40, 6, 5, 3)
for name, r in (("cca", 0.0), ("rcca", 0.1)):
    S1, S2, S12 = cov(X1, X1) + r * torch.eye(6), cov(X2, X2) + r * torch.eye(5), cov(X1, X2)
    T = inv_sqrt(S1) @ S12 @ inv_sqrt(S2)
    cases[name] = dict(X1=L(X1), X2=L(X2), r=r, singular_values=L(torch.linalg.svdvals(T)))

# 2. trace-norm objective (DCCA) ---------------------------------------------------------------
H1, H2 = correlated(30, 4, 4, 2)
H1.requires_grad_(); H2.requires_grad_()
r = 1e-3
T = inv_sqrt(cov(H1, H1) + r * torch.eye(4)) @ cov(H1, H2) @ inv_sqrt(cov(H2, H2) + r * torch.eye(4))
loss = -torch.linalg.svdvals(T).sum()
loss.backward()
cases["trace_norm"] = dict(H1=L(H1), H2=L(H2), r=r, loss=loss.item(), dH1=L(H1.grad), dH2=L(H2.grad))

# 3. ZCA whitening, three consecutive training batches, then inference ---------------------------
alpha, eps, d = 0.9, 1e-3, 4
mu, S = torch.zeros(d), torch.zeros(d, d)
steps = []
for k in range(1, 4):
    A = (rand(16, d) @ rand(d, d) + rand(d)).requires_grad_()
    W = rand(16, d)  # loss = sum(W * B)
    c = 1 - alpha**k
    mu_k = alpha * mu + (1 - alpha) * A.mean(0)
    Ab = A - mu_k / c
    S_k = alpha * S + (1 - alpha) * Ab.T @ Ab / (len(A) - 1)
    U = inv_sqrt(S_k / c + eps * torch.eye(d))
    B = Ab @ U
    (W * B).sum().backward()
    steps.append(dict(A=L(A), dB=L(W), B=L(B), dA=L(A.grad)))
    mu, S = mu_k.detach(), S_k.detach()
A = rand(5, d)
cases["zca"] = dict(alpha=alpha, eps=eps, steps=steps, running_mean=L(mu / c), running_cov=L(S / c),
                    infer_A=L(A), infer_B=L((A - mu / c) @ U))

# 4. soft decorrelation, three consecutive batches -----------------------------------------------
alpha, C, c, steps = 0.9, torch.zeros(4, 4), 0.0, []
for k in range(3):
    A = (rand(16, 4) @ rand(4, 4)).requires_grad_()
    c = alpha * c + 1
    C = alpha * C.detach() + A.T @ A / (len(A) - 1)
    S = C / c
    loss = S.abs().sum() - S.diagonal().abs().sum()
    loss.backward()
    steps.append(dict(A=L(A), loss=loss.item(), dA=L(A.grad)))
cases["soft_decorrelation"] = dict(alpha=alpha, steps=steps)

# 5. l2 distance (mean over the batch of the squared distance) -------------------------------------
A1, A2 = rand(8, 3).requires_grad_(), rand(8, 3).requires_grad_()
loss = ((A1 - A2) ** 2).sum(1).mean(); loss.backward()
cases["l2_distance"] = dict(A1=L(A1), A2=L(A2), loss=loss.item(), dA1=L(A1.grad), dA2=L(A2.grad))

# 6. softmax cross-entropy with missing labels (-1) -------------------------------------------------
Z, y = rand(7, 3).requires_grad_(), [0, 2, -1, 1, -1, 2, 0]
m = torch.tensor([v >= 0 for v in y])
loss = torch.nn.functional.cross_entropy(Z[m], torch.tensor([v for v in y if v >= 0])); loss.backward()
cases["cross_entropy_missing"] = dict(logits=L(Z), labels=y, loss=loss.item(), dlogits=L(Z.grad))

# 7. LDA objective: generalised eigenvalues of (S_b, S_w + r I) -------------------------------------
H, y, r = rand(36, 5), [i % 3 for i in range(36)], 1e-3
H = H + 1.5 * torch.nn.functional.one_hot(torch.tensor(y), 3).double() @ rand(3, 5)
H.requires_grad_()
yt = torch.tensor(y)
St = cov(H, H)
Sw = sum(cov(H[yt == k], H[yt == k]) for k in range(3)) / 3
Sb = St - Sw
Lc = torch.linalg.cholesky(Sw + r * torch.eye(5))
Li = torch.linalg.inv(Lc)
e = torch.linalg.eigvalsh(Li @ Sb @ Li.T)[-2:]
thr = 1.0
sel = e[e <= e.min().item() + thr]
loss = -sel.mean(); loss.backward()
cases["deep_lda"] = dict(H=L(H), labels=y, r=r, threshold=thr, eigenvalues=L(e), loss=loss.item(), dH=L(H.grad))

# 8. Cox partial likelihood (mean over events), Breslow and Efron ties --------------------------------
eta = rand(10).requires_grad_()
time, event = [5, 3, 3, 8, 1, 3, 8, 2, 5, 9], [1, 1, 1, 0, 1, 0, 1, 0, 1, 0]
t, ev = torch.tensor(time), torch.tensor(event)
for ties in ("breslow", "efron"):
    eta.grad = None
    ll = 0.0
    for u in sorted(set(t[ev == 1].tolist())):
        dead, risk = (t == u) & (ev == 1), t >= u
        ll = ll + eta[dead].sum()
        R, D, nd = eta[risk].exp().sum(), eta[dead].exp().sum(), int(dead.sum())
        for l in range(nd):
            ll = ll - torch.log(R - (l / nd) * D if ties == "efron" else R)
    loss = -ll / int(ev.sum()); loss.backward()
    cases["cox_" + ties] = dict(log_hazard=L(eta), time=time, event=event, loss=loss.item(), dlog_hazard=L(eta.grad))

# 9. CCA projection as a layer; loss is blind to the signs of the components ----------------------------
H1, H2 = correlated(30, 4, 3, 2)
H1.requires_grad_(); H2.requires_grad_()
r = 1e-3
i1, i2 = inv_sqrt(cov(H1, H1) + r * torch.eye(4)), inv_sqrt(cov(H2, H2) + r * torch.eye(3))
U, s, Vh = torch.linalg.svd(i1 @ cov(H1, H2) @ i2, full_matrices=False)
B1, B2 = (H1 - H1.mean(0)) @ i1 @ U, (H2 - H2.mean(0)) @ i2 @ Vh.T
loss = -torch.nn.functional.cosine_similarity(B1, B2).mean(); loss.backward()
cases["cca_layer"] = dict(H1=L(H1), H2=L(H2), r=r, correlations=L(s), abs_B1=L(B1.abs()), abs_B2=L(B2.abs()),
                          loss=loss.item(), dH1=L(H1.grad), dH2=L(H2.grad))

# 10. Nadam (schedule decay 0.004), six steps on given gradients ------------------------------------------
p = rand(4).requires_grad_(); p0 = L(p)
opt = torch.optim.NAdam([p], lr=0.01, betas=(0.9, 0.999), eps=1e-7, momentum_decay=0.004)
gs, ps = [], []
for _ in range(6):
    p.grad = rand(4); gs.append(L(p.grad)); opt.step(); ps.append(L(p))
cases["nadam"] = dict(lr=0.01, beta1=0.9, beta2=0.999, eps=1e-7, schedule_decay=0.004, p0=p0, gradients=gs, parameters=ps)

json.dump(dict(seed=args.seed, cases=cases), open(args.out, "w"))
print(args.out, {k: sorted(v) for k, v in cases.items()})
