# detach in the wrong step
# The maker is cut off from its own loss
# and learns nothing.

torch.manual_seed(0)
maker = nn.Linear(2, 2)
critic = nn.Linear(2, 1)
sgd = optim.SGD
opt_m = sgd(maker.parameters(), lr=0.1)
opt_c = sgd(critic.parameters(), lr=0.1)
real = torch.randn(6, 2)
noise = torch.randn(6, 2)
yes = torch.ones(6, 1)
no = torch.zeros(6, 1)
bce = F.binary_cross_entropy_with_logits

fake = maker(noise)
seen = critic(fake.detach())
loss_c = bce(critic(real), yes)
loss_c = loss_c + bce(seen, no)
opt_c.zero_grad()
loss_c.backward()
opt_c.step()

loss_m = bce(critic(fake.detach()), yes)
opt_m.zero_grad()
loss_m.backward()
opt_m.step()
