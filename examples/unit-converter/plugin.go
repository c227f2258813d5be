// Command units is a plugin that converts between units of measure.
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"portcullis.dev/portcullis"
)

func init() {
	portcullis.Register(portcullis.Plugin{
		Name:        "units",
		Version:     "1.0.0",
		Description: "Converts between units of measure.",
		Tools: []*portcullis.Tool{
			portcullis.NewTool("convert",
				"Converts a value from one unit to another of the same quantity, such as 5 mi to km or 72 degF to degC.",
				convert, portcullis.ReadOnly, portcullis.Idempotent),
			portcullis.NewTool("list",
				"Lists the units that convert supports, by quantity, with their symbols and names.",
				list, portcullis.ReadOnly, portcullis.Idempotent),
		},
	})
}

// A component has no main program: the host calls the tools.
func main() {}

type convertArguments struct {
	Value float64 `json:"value" description:"The value to convert."`
	From  string  `json:"from" minLength:"1" maxLength:"40" description:"Its unit: a symbol or a name, such as km or mile."`
	To    string  `json:"to" minLength:"1" maxLength:"40" description:"The unit to convert to, of the same quantity."`
}

type converted struct {
	Value    json.Number `json:"value" description:"The value in the unit that was asked for."`
	Unit     string      `json:"unit" description:"The symbol of that unit."`
	Quantity string      `json:"quantity" description:"What both units measure."`
	Text     string      `json:"text" description:"The conversion in words."`
}

func convert(_ *portcullis.Context, arguments convertArguments) (portcullis.Success[converted], error) {
	none := portcullis.Success[converted]{}
	from, err := find(arguments.From)
	if err != nil {
		return none, err
	}
	to, err := find(arguments.To)
	if err != nil {
		return none, err
	}
	if from.quantity != to.quantity {
		return none, portcullis.InvalidArguments(fmt.Sprintf(
			"%s is a unit of %s, but %s is a unit of %s: choose units of the same quantity",
			from, from.quantity, to, to.quantity,
		))
	}
	if from.isBelowZero(arguments.Value) {
		return none, portcullis.InvalidArguments(fmt.Sprintf(
			"%s %s is below absolute zero, which is 0 K", number(arguments.Value), from,
		))
	}
	value := from.in(arguments.Value, to)
	if math.IsInf(value, 0) {
		return none, portcullis.InvalidArguments("the result is larger than a number can be")
	}
	text := fmt.Sprintf("%s %s = %s %s", number(arguments.Value), from, number(value), to)
	return portcullis.Success[converted]{
		Title:  text,
		Output: converted{json.Number(number(value)), to.String(), from.quantity, text},
	}, nil
}

// Number of digits of an answer. A float64 has about 15, and the last ones contain rounding errors.
const digits = 14

// number writes a value as people read it.
func number(value float64) string {
	if value == 0 {
		// Not "-0".
		return "0"
	}
	return strconv.FormatFloat(value, 'g', digits, 64)
}

type listArguments struct {
	Quantity string `json:"quantity,omitempty" enum:"length,mass,temperature,time,data,area,volume,speed,energy,power,pressure,angle" description:"Only the units of this quantity."`
}

func list(_ *portcullis.Context, arguments listArguments) (string, error) {
	var text strings.Builder
	for _, unit := range units {
		if arguments.Quantity == "" || unit.quantity == arguments.Quantity {
			fmt.Fprintf(&text, "%s: %s\n", unit.quantity, strings.Join(unit.words(), ", "))
		}
	}
	return text.String(), nil
}
