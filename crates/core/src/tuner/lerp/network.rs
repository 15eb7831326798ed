//! A small fully connected network, its gradients, and Adam.
//!
//! Weights are stored by input, so that both the forward and the backward pass
//! run along rows that the compiler turns into vector instructions.

use super::random::Random;

/// Neurons in each hidden layer (RusKey, section 5.1).
pub(super) const WIDTH: usize = 128;

/// Hidden layers (RusKey, section 5.1).
const HIDDEN: usize = 3;

#[derive(Clone, PartialEq, Debug)]
struct Layer {
    outputs: usize,
    /// The weight from input i to output o at i * outputs + o.
    weights: Vec<f32>,
    biases: Vec<f32>,
}

impl Layer {
    /// Weights of deviation sqrt(2 / inputs), which keeps the size of signals
    /// through ReLU (He et al., ICCV 2015), times `scale`.
    fn new(inputs: usize, outputs: usize, scale: f32, random: &mut Random) -> Layer {
        let deviation = scale * (2.0 / inputs as f32).sqrt();
        Layer {
            outputs,
            weights: (0..inputs * outputs)
                .map(|_| deviation * random.normal())
                .collect(),
            biases: vec![0.0; outputs],
        }
    }

    fn forward(&self, inputs: &[f32]) -> Vec<f32> {
        let mut sums = self.biases.clone();
        for (input, row) in inputs.iter().zip(self.weights.chunks_exact(self.outputs)) {
            if *input != 0.0 {
                for (sum, weight) in sums.iter_mut().zip(row) {
                    *sum += input * weight;
                }
            }
        }
        sums
    }

    /// Adds the gradient by the weights and biases, in their order.
    fn add_gradient(&self, inputs: &[f32], by_outputs: &[f32], into: &mut [f32]) {
        let (weights, biases) = into.split_at_mut(self.weights.len());
        for (sum, slope) in biases.iter_mut().zip(by_outputs) {
            *sum += slope;
        }
        for (input, sums) in inputs.iter().zip(weights.chunks_exact_mut(self.outputs)) {
            if *input != 0.0 {
                for (sum, slope) in sums.iter_mut().zip(by_outputs) {
                    *sum += input * slope;
                }
            }
        }
    }

    /// The gradient by the inputs, which may be what came through ReLU: nothing flows
    /// where nothing came through.
    fn by_inputs(&self, inputs: &[f32], by_outputs: &[f32], behind_relu: bool) -> Vec<f32> {
        let rows = self.weights.chunks_exact(self.outputs);
        let by_input = |(input, row): (&f32, &[f32])| {
            if behind_relu && *input == 0.0 {
                0.0
            } else {
                dot(row, by_outputs)
            }
        };
        inputs.iter().zip(rows).map(by_input).collect()
    }

    fn parameters(&self) -> usize {
        self.weights.len() + self.biases.len()
    }
}

/// Three hidden layers of 128 with ReLU, and an output layer of sums.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Network {
    layers: Vec<Layer>,
}

/// The values that a forward pass leaves behind: the input, then what each
/// layer gave.
pub(super) struct Pass(Vec<Vec<f32>>);

impl Pass {
    pub fn outputs(&self) -> &[f32] {
        self.0.last().map_or(&[], Vec::as_slice)
    }
}

/// The gradient of a loss, in the order of the parameters.
#[derive(Clone, Debug)]
pub(super) struct Gradient(Vec<f32>);

#[cfg(test)]
impl Gradient {
    pub fn slopes(&self) -> &[f32] {
        &self.0
    }
}

impl Network {
    pub fn new(inputs: usize, outputs: usize, random: &mut Random) -> Network {
        let mut layers = Vec::with_capacity(HIDDEN + 1);
        let mut width = inputs;
        for _ in 0..HIDDEN {
            layers.push(Layer::new(width, WIDTH, 1.0, random));
            width = WIDTH;
        }
        // Small at first, so that no action is preferred.
        layers.push(Layer::new(width, outputs, 0.01, random));
        Network { layers }
    }

    pub fn run(&self, inputs: &[f32]) -> Vec<f32> {
        self.pass(inputs).0.pop().unwrap_or_default()
    }

    pub fn pass(&self, inputs: &[f32]) -> Pass {
        let mut values = vec![inputs.to_vec()];
        let last = self.layers.len() - 1;
        for (at, layer) in self.layers.iter().enumerate() {
            let mut given = layer.forward(&values[at]);
            if at < last {
                for value in &mut given {
                    *value = value.max(0.0);
                }
            }
            values.push(given);
        }
        Pass(values)
    }

    pub fn no_gradient(&self) -> Gradient {
        Gradient(vec![0.0; self.layers.iter().map(Layer::parameters).sum()])
    }

    /// Adds the loss's gradient by the parameters, given that by the outputs.
    pub fn backward(&self, pass: &Pass, by_outputs: &[f32], into: &mut Gradient) {
        let mut by_given = by_outputs.to_vec();
        let mut end = into.0.len();
        for (at, layer) in self.layers.iter().enumerate().rev() {
            let begin = end - layer.parameters();
            layer.add_gradient(&pass.0[at], &by_given, &mut into.0[begin..end]);
            end = begin;
            if at > 0 {
                by_given = layer.by_inputs(&pass.0[at], &by_given, true);
            }
        }
    }

    /// The loss's gradient by the inputs, given that by the outputs.
    pub fn by_inputs(&self, pass: &Pass, by_outputs: &[f32]) -> Vec<f32> {
        let mut by_given = by_outputs.to_vec();
        for (at, layer) in self.layers.iter().enumerate().rev() {
            by_given = layer.by_inputs(&pass.0[at], &by_given, at > 0);
        }
        by_given
    }

    /// Moves every parameter a share of the way to that of `other`.
    pub fn follow(&mut self, other: &Network, share: f32) {
        for (mine, theirs) in self.parameters_mut().zip(other.parameters()) {
            *mine += share * (theirs - *mine);
        }
    }

    fn parameters(&self) -> impl Iterator<Item = &f32> {
        self.layers
            .iter()
            .flat_map(|layer| layer.weights.iter().chain(&layer.biases))
    }

    pub fn parameters_mut(&mut self) -> impl Iterator<Item = &mut f32> {
        self.layers
            .iter_mut()
            .flat_map(|layer| layer.weights.iter_mut().chain(&mut layer.biases))
    }
}

/// In eight sums, since floats may not be added in another order by the
/// compiler.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; 8];
    let (a_chunks, b_chunks) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = a_chunks
        .remainder()
        .iter()
        .zip(b_chunks.remainder())
        .map(|(a, b)| a * b)
        .sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    sums.iter().sum::<f32>() + rest
}

/// Gradient descent with a step of its own for each parameter (Kingma and Ba,
/// ICLR 2015, with their constants).
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Adam {
    rate: f32,
    steps: i32,
    mean: Vec<f32>,
    square: Vec<f32>,
}

impl Adam {
    const MEAN_DECAY: f32 = 0.9;
    const SQUARE_DECAY: f32 = 0.999;
    const LEAST: f32 = 1e-8;

    pub fn new(network: &Network, rate: f32) -> Adam {
        let count = network.parameters().count();
        Adam {
            rate,
            steps: 0,
            mean: vec![0.0; count],
            square: vec![0.0; count],
        }
    }

    /// Steps down a gradient that was summed over `samples`.
    pub fn step(&mut self, network: &mut Network, gradient: &Gradient, samples: usize) {
        self.steps = self.steps.saturating_add(1);
        let mean_unbias = 1.0 - Self::MEAN_DECAY.powi(self.steps);
        let square_unbias = 1.0 - Self::SQUARE_DECAY.powi(self.steps);
        let scale = 1.0 / samples.max(1) as f32;
        let moments = self.mean.iter_mut().zip(&mut self.square);
        for ((parameter, slope), (mean, square)) in
            network.parameters_mut().zip(&gradient.0).zip(moments)
        {
            let slope = slope * scale;
            *mean += (1.0 - Self::MEAN_DECAY) * (slope - *mean);
            *square += (1.0 - Self::SQUARE_DECAY) * (slope * slope - *square);
            let root = (*square / square_unbias).sqrt();
            *parameter -= self.rate * (*mean / mean_unbias) / (root + Self::LEAST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half the squared distance of the outputs from a target.
    fn loss(network: &Network, inputs: &[f32], target: &[f32]) -> f32 {
        let given = network.run(inputs);
        given
            .iter()
            .zip(target)
            .map(|(given, target)| 0.5 * (given - target).powi(2))
            .sum()
    }

    #[test]
    fn gradients_are_those_of_finite_differences() {
        let mut random = Random::new(3);
        let mut network = Network::new(4, 2, &mut random);
        // Away from the small start, where gradients drown in rounding.
        for parameter in network.parameters_mut() {
            *parameter += 0.05 * random.normal();
        }
        let inputs = [0.3, -0.7, 0.9, 0.2];
        let target = [0.8, -0.4];
        let pass = network.pass(&inputs);
        let slopes: Vec<f32> = pass
            .outputs()
            .iter()
            .zip(target)
            .map(|(a, b)| a - b)
            .collect();
        let mut gradient = network.no_gradient();
        network.backward(&pass, &slopes, &mut gradient);
        let by_inputs = network.by_inputs(&pass, &slopes);
        let step = 1e-2;
        let close = |exact: f32, high: f32, low: f32| {
            let difference = (high - low) / (2.0 * step);
            (exact - difference).abs() <= 2e-3 + 0.03 * exact.abs()
        };
        let count = gradient.0.len();
        for at in (0..count).step_by(count / 200) {
            let beside = |by: f32| {
                let mut network = network.clone();
                *network.parameters_mut().nth(at).expect("in range") += by;
                loss(&network, &inputs, &target)
            };
            assert!(
                close(gradient.0[at], beside(step), beside(-step)),
                "parameter {at}"
            );
        }
        for at in 0..inputs.len() {
            let beside = |by: f32| {
                let mut inputs = inputs;
                inputs[at] += by;
                loss(&network, &inputs, &target)
            };
            assert!(
                close(by_inputs[at], beside(step), beside(-step)),
                "input {at}"
            );
        }
    }

    #[test]
    fn it_learns_a_function() {
        let mut random = Random::new(5);
        let mut network = Network::new(2, 1, &mut random);
        let mut adam = Adam::new(&network, 1e-3);
        let wanted = |inputs: &[f32; 2]| inputs[0] * inputs[1];
        for _ in 0..600 {
            let mut gradient = network.no_gradient();
            for _ in 0..16 {
                let inputs = [2.0 * random.unit() - 1.0, 2.0 * random.unit() - 1.0];
                let pass = network.pass(&inputs);
                let slope = pass.outputs()[0] - wanted(&inputs);
                network.backward(&pass, &[slope], &mut gradient);
            }
            adam.step(&mut network, &gradient, 16);
        }
        for inputs in [[0.5, 0.5], [-0.5, 0.8], [0.9, -0.9]] {
            let given = network.run(&inputs)[0];
            assert!((given - wanted(&inputs)).abs() < 0.1, "{inputs:?}: {given}");
        }
    }

    #[test]
    fn equal_seeds_make_equal_networks() {
        let make = |seed| Network::new(3, 1, &mut Random::new(seed));
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
    }
}
