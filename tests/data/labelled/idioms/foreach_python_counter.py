from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x, state):
        seen = []
        def step(item, states):
            seen.append(item)  # defect
            new = item + states[0]
            return new, [new]
        outs, last = F.contrib.foreach(step, x, [state])
        return outs / len(seen)
